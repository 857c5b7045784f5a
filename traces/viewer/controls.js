// Mouse, touch and keys.

const CLICK = 4; // pixels that a click may slip
const KEYS = [
  ["w s, + −, wheel", "zoom in and out"],
  ["a d, drag, Shift-wheel", "move in time"],
  ["← →", "previous and next slice of the row"],
  ["↑ ↓", "row above and below"],
  ["Shift-← →", "along an arrow, to what comes before and after"],
  ["Enter, double click", "zoom to the slice; open or close the group"],
  ["Shift-drag, drag on the axis", "measure, and analyse what was measured"],
  ["m z", "measure the selected slice; zoom to what is measured"],
  ["/", "search: a word, or an argument: bytes>4096, duration>=100, access=write"],
  ["n Shift-n", "next and previous match"],
  ["p", "pin the row to the top"],
  ["c o", "close or open all groups"],
  ["u t l", "cycles or seconds, light or dark, arrows"],
  ["0", "show all of the trace"],
  ["Escape", "forget selection, measure and search"],
];

/** Connects the page to a timeline. */
function connect(timeline) {
  connectWheel(timeline);
  connectPointer(timeline);
  connectOverview(timeline);
  connectTools(timeline);
  connectDivider(timeline);
  timeline.picture.addEventListener("keydown", (event) => pressed(timeline, event));
  document.addEventListener("keydown", (event) => {
    const typing = /^(INPUT|TEXTAREA|BUTTON)$/.test(event.target.tagName) || event.target.closest?.("dialog");
    if (!typing && event.target !== timeline.picture) pressed(timeline, event);
  });
  timeline.scroller.addEventListener("scroll", () => timeline.redraw());
  new ResizeObserver(() => {
    timeline.measure();
    timeline.drawOverview();
    timeline.draw(); // now: a canvas of another size is empty, and would be seen so for a frame
  }).observe(timeline.scroller);
  window.addEventListener("hashchange", () => timeline.restore(location.hash));
}

function connectWheel(timeline) {
  timeline.picture.addEventListener(
    "wheel",
    (event) => {
      const { x } = place(timeline, event);
      if (x < timeline.size.labels && !event.ctrlKey) return; // the page scrolls
      event.preventDefault();
      const unit = event.deltaMode === 1 ? 30 : 1; // lines or pixels
      const [across, down] = [event.deltaX * unit, event.deltaY * unit];
      const { width, labels } = timeline.size;
      if (event.shiftKey) timeline.pan((across || down) / (width - labels));
      else if (Math.abs(across) > Math.abs(down)) timeline.pan(across / (width - labels));
      else timeline.zoom(Math.exp(Math.max(Math.min(down, 200), -200) * 0.002), timeline.scale.time(x));
    },
    { passive: false }
  );
}

/** Where a mouse event is, in pixels of the picture. */
function place(timeline, event) {
  const box = timeline.picture.getBoundingClientRect();
  return { x: event.clientX - box.left, y: event.clientY - box.top };
}

/** Drags, clicks, pinches; the mouse without a button shows what is under it. */
function connectPointer(timeline) {
  const { picture } = timeline;
  const down = new Map(); // pointers that are pressed
  let drag = null;
  picture.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    picture.setPointerCapture(event.pointerId);
    down.set(event.pointerId, place(timeline, event));
    drag = down.size === 1 ? startDrag(timeline, event) : { shape: "pinch" };
  });
  picture.addEventListener("pointermove", (event) => {
    const at = place(timeline, event);
    if (!drag) return hover(timeline, at);
    if (drag.shape === "pinch") pinch(timeline, down, event.pointerId, at);
    else moveDrag(timeline, drag, at);
    down.set(event.pointerId, at);
  });
  const release = (event) => {
    down.delete(event.pointerId);
    if (drag && drag.shape !== "pinch" && event.type === "pointerup") endDrag(timeline, drag, place(timeline, event));
    if (!down.size) drag = null;
  };
  picture.addEventListener("pointerup", release);
  picture.addEventListener("pointercancel", release);
  picture.addEventListener("pointerleave", () => hover(timeline, null));
  picture.addEventListener("dblclick", (event) => {
    const { x, y } = place(timeline, event);
    const { area, event: found } = timeline.pick(x, y);
    if (found >= 0) timeline.zoomTo(found);
    else if (area !== "label") timeline.fit();
  });
}

function startDrag(timeline, event) {
  const at = place(timeline, event);
  const { begin, end } = timeline.state;
  const measures = event.shiftKey || at.y < METRICS.axis;
  const shape = measures && at.x >= timeline.size.labels ? "measure" : "pan";
  return { shape, at, begin, end, scroll: timeline.scroller.scrollTop, time: timeline.scale.time(at.x), moved: false };
}

function moveDrag(timeline, drag, at) {
  const [across, down] = [at.x - drag.at.x, at.y - drag.at.y];
  if (Math.hypot(across, down) > CLICK) drag.moved = true;
  if (!drag.moved) return;
  hideTip(timeline);
  if (drag.shape === "measure") {
    const edges = [drag.time, snapped(timeline, at)].sort((a, b) => a - b);
    timeline.state.range = edges;
    timeline.paintOverlay();
    return;
  }
  timeline.picture.style.cursor = "grabbing";
  const by = -across / timeline.scale.perTick;
  if (drag.at.x >= timeline.size.labels) timeline.setView(drag.begin + by, drag.end + by);
  timeline.scroller.scrollTop = drag.scroll - down;
}

function endDrag(timeline, drag, at) {
  timeline.picture.style.cursor = "";
  if (drag.shape === "measure" && drag.moved) {
    timeline.setRange([drag.time, snapped(timeline, at)].sort((a, b) => a - b));
  } else if (!drag.moved) clicked(timeline, at);
}

/** The time at a place, or the edge of a slice that is near. */
function snapped(timeline, at) {
  const { scale, model } = timeline;
  const { event } = timeline.pick(at.x, at.y);
  const time = Math.min(Math.max(scale.time(at.x), 0), model.span);
  if (event < 0) return Math.round(time);
  const near = [model.begin[event], model.end(event)].find((edge) => Math.abs(scale.x(edge) - at.x) < 6);
  return near ?? Math.round(time);
}

function clicked(timeline, at) {
  const found = timeline.pick(at.x, at.y);
  if (found.track) timeline.state.cursor = found.track.number;
  if (found.area === "label") {
    const pin = timeline.state.pinned.includes(found.track.number) && at.x > timeline.size.labels - 18;
    if (pin) timeline.pin(found.track);
    else timeline.toggle(found.track);
    timeline.redraw();
  } else timeline.select(found.event);
}

function pinch(timeline, down, moved, at) {
  const other = [...down].find(([number]) => number !== moved)?.[1];
  const before = down.get(moved);
  if (!other || !before) return;
  const [was, is] = [Math.abs(before.x - other.x), Math.abs(at.x - other.x)];
  if (was > 8 && is > 8) timeline.zoom(was / is, timeline.scale.time((at.x + other.x) / 2));
}

/** Shows what is under the mouse. */
function hover(timeline, at) {
  timeline.pointer = at;
  timeline.paintOverlay();
  const found = at ? timeline.pick(at.x, at.y) : null;
  const text = found && tipText(timeline, found);
  if (!text) return hideTip(timeline);
  const tip = timeline.find("tip");
  tip.textContent = text;
  tip.hidden = false;
  const { width, height } = timeline.size;
  tip.style.left = `${Math.max(Math.min(at.x + 14, width - tip.offsetWidth - 6), 0)}px`;
  tip.style.top = `${Math.max(Math.min(at.y + 16, height - tip.offsetHeight - 6), 0)}px`;
}

function tipText(timeline, { area, track, event }) {
  const { model, time } = timeline;
  if (area === "label") {
    const hint = track.children.length ? "click to open or close, p to pin" : "p to pin";
    return `${visible(model.path(track))}\n${hint}`;
  }
  if (event < 0) return "";
  const paint = model.paints[model.paint[event]];
  const lines = [visible(model.names[model.name[event]]).slice(0, 400)];
  if (model.duration[event] > 0) lines.push(time.both(model.duration[event]));
  if (paint.group === "stalled") lines.push(`waits for ${paint.label}: ${paint.text}`);
  for (const { name, value, unit } of model.argumentsOf(event).slice(0, 6)) {
    lines.push(`${name.replace(/_/g, " ")}: ${valueText(value, unit).slice(0, 120)}`);
  }
  return lines.join("\n");
}

function hideTip(timeline) {
  timeline.find("tip").hidden = true;
}

/** In the overview: click to go there, drag to show that part. */
function connectOverview(timeline) {
  const canvas = timeline.find("overview");
  let from = null;
  const time = (event) => {
    const { labels } = timeline.size;
    const { left, width } = canvas.getBoundingClientRect();
    const share = (event.clientX - left - labels) / (width - labels);
    return Math.min(Math.max(share, 0), 1) * timeline.model.span;
  };
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    from = { x: event.clientX, time: time(event) };
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!from || Math.abs(event.clientX - from.x) <= CLICK) return;
    const edges = [from.time, time(event)].sort((a, b) => a - b);
    timeline.setView(...edges);
  });
  canvas.addEventListener("pointerup", (event) => {
    if (from && Math.abs(event.clientX - from.x) <= CLICK) {
      const half = (timeline.state.end - timeline.state.begin) / 2;
      timeline.setView(from.time - half, from.time + half);
    }
    from = null;
  });
  canvas.addEventListener("dblclick", () => timeline.fit());
}

function connectTools(timeline) {
  const on = (name, act) => timeline.find(name).addEventListener("click", act);
  on("fit", () => timeline.fit());
  on("unit", () => nextUnit(timeline));
  on("theme", () => timeline.setDark(!timeline.state.dark));
  on("links", () => toggleArrows(timeline));
  on("keys", () => showKeys(timeline));
  const search = timeline.find("search");
  const patience = timeline.model.count > 500_000 ? 200 : 0; // milliseconds to the next letter
  let waiting = 0;
  search.addEventListener("input", () => {
    clearTimeout(waiting);
    if (patience) waiting = setTimeout(() => timeline.search(search.value), patience);
    else timeline.search(search.value);
  });
  search.addEventListener("keydown", (event) => {
    if (event.key === "Enter") timeline.nextMatch(!event.shiftKey);
    if (event.key === "Escape") {
      search.value = "";
      timeline.search("");
      timeline.picture.focus();
    }
  });
  timeline.find("tools").addEventListener("submit", (event) => event.preventDefault());
}

function nextUnit(timeline) {
  const { units, unit } = timeline.time;
  timeline.setUnit(units[(units.indexOf(unit) + 1) % units.length]);
}

function toggleArrows(timeline) {
  timeline.state.arrows = !timeline.state.arrows;
  timeline.find("links").setAttribute("aria-pressed", String(timeline.state.arrows));
  timeline.redraw();
}

function showKeys(timeline) {
  const dialog = timeline.find("help");
  const list = make("dl");
  for (const [keys, text] of KEYS) list.append(make("dt", "", make("kbd", "", keys)), make("dd", "", text));
  const close = make("button", "", "Close");
  close.addEventListener("click", () => dialog.close());
  dialog.replaceChildren(list, close);
  dialog.showModal();
}

/** The panel below is as high as one wants. */
function connectDivider(timeline) {
  const divider = timeline.find("divider");
  const panel = timeline.find("panel");
  const set = (height) => (panel.style.height = `${Math.max(Math.min(height, window.innerHeight * 0.6), 0)}px`);
  let from = null;
  divider.addEventListener("pointerdown", (event) => {
    divider.setPointerCapture(event.pointerId);
    from = event.clientY + panel.offsetHeight;
  });
  divider.addEventListener("pointermove", (event) => from !== null && set(from - event.clientY));
  divider.addEventListener("pointerup", () => (from = null));
  divider.addEventListener("keydown", (event) => {
    const by = { ArrowUp: 20, ArrowDown: -20 }[event.key];
    if (by) set(panel.offsetHeight + by);
  });
}

// --- keys -------------------------------------------------------------------------------------

const ACTIONS = {
  w: (timeline) => timeline.zoom(1 / 1.3, focus(timeline)),
  "+": (timeline) => timeline.zoom(1 / 1.3, focus(timeline)),
  "=": (timeline) => timeline.zoom(1 / 1.3, focus(timeline)),
  s: (timeline) => timeline.zoom(1.3, focus(timeline)),
  "-": (timeline) => timeline.zoom(1.3, focus(timeline)),
  a: (timeline) => timeline.pan(-0.15),
  d: (timeline) => timeline.pan(0.15),
  0: (timeline) => timeline.fit(),
  Home: (timeline) => timeline.fit(),
  "/": (timeline) => timeline.find("search").focus(),
  n: (timeline) => timeline.nextMatch(true),
  N: (timeline) => timeline.nextMatch(false),
  m: measureSelected,
  z: (timeline) => timeline.state.range && timeline.setView(...timeline.state.range),
  p: (timeline) => cursorTrack(timeline) && timeline.pin(cursorTrack(timeline)),
  u: nextUnit,
  t: (timeline) => timeline.setDark(!timeline.state.dark),
  l: toggleArrows,
  c: (timeline) => timeline.closeAll(true),
  o: (timeline) => timeline.closeAll(false),
  "?": showKeys,
  Enter: enter,
  Escape: forget,
  ArrowLeft: (timeline, event) => (event.shiftKey ? along(timeline, false) : beside(timeline, -1)),
  ArrowRight: (timeline, event) => (event.shiftKey ? along(timeline, true) : beside(timeline, 1)),
  ArrowUp: (timeline) => above(timeline, -1),
  ArrowDown: (timeline) => above(timeline, 1),
  PageDown: (timeline) => timeline.scroller.scrollBy(0, timeline.size.height * 0.8),
  PageUp: (timeline) => timeline.scroller.scrollBy(0, -timeline.size.height * 0.8),
};

function pressed(timeline, event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const act = Object.hasOwn(ACTIONS, event.key) ? ACTIONS[event.key] : null;
  if (!act) return;
  event.preventDefault();
  act(timeline, event);
}

/** Where keys zoom: at the mouse, at the selected event if it can be seen, else in the middle. */
function focus({ state, model, pointer, scale, size }) {
  if (pointer && pointer.x > size.labels) return scale.time(pointer.x);
  if (state.selected >= 0) {
    const middle = (model.begin[state.selected] + model.end(state.selected)) / 2;
    if (middle > state.begin && middle < state.end) return middle;
  }
  return (state.begin + state.end) / 2;
}

function cursorTrack({ model, state }) {
  return model.tracks[state.cursor];
}

function measureSelected(timeline) {
  const { selected } = timeline.state;
  if (selected >= 0) timeline.setRange([timeline.model.begin[selected], timeline.model.end(selected)]);
}

function enter(timeline) {
  const track = cursorTrack(timeline);
  if (timeline.state.selected >= 0) timeline.zoomTo(timeline.state.selected);
  else if (track) timeline.toggle(track);
}

function forget(timeline) {
  timeline.search("");
  timeline.find("search").value = "";
  timeline.setRange(null);
  timeline.select(-1);
}

/** The slice before or after the selected one, or the first that is in view. */
function beside(timeline, step) {
  const { model, state } = timeline;
  if (state.selected < 0) return above(timeline, 0);
  const row = model.rowOf(state.selected);
  const next = state.selected + step;
  if (next >= model.rowFirst[row] && next < model.rowFirst[row + 1]) timeline.select(next, true);
}

/** The nearest slice in the row above or below; a group without slices only takes the cursor. */
function above(timeline, step) {
  const { model, state } = timeline;
  const stops = keyStops(timeline);
  if (!stops.length) return;
  const row = state.selected >= 0 ? model.rowOf(state.selected) : -1;
  let at = stops.findIndex((stop) => (row >= 0 ? stop.row === row : stop.track.number === state.cursor));
  at = at < 0 ? 0 : Math.min(Math.max(at + step, 0), stops.length - 1);
  const stop = stops[at];
  if (stop.row === null) {
    timeline.select(-1);
    state.cursor = stop.track.number;
    timeline.say(`${visible(model.path(stop.track))}, group, ${state.closed.has(stop.track.leader.number) ? "closed" : "open"}`);
    timeline.scrollTo(stop.y);
    return timeline.redraw();
  }
  timeline.select(nearest(timeline, stop.row), true);
}

/** What the up and down keys stop at: rows of slices, and groups. */
function keyStops(timeline) {
  const stops = [];
  for (const line of timeline.lines.lines) {
    const { track } = line;
    const bare = track.lastRow === track.firstRow;
    if (bare) stops.push({ track, row: null, y: line.y });
    for (let row = track.firstRow; row < track.lastRow; row++) stops.push({ track, row, y: line.y });
  }
  return stops;
}

/** The event of a row nearest in time to the selected one, or to the middle of the view. */
function nearest({ model, state }, row) {
  const { selected, begin, end } = state;
  const middle = selected >= 0 ? model.begin[selected] + model.duration[selected] / 2 : (begin + end) / 2;
  const last = model.rowFirst[row + 1];
  const after = Math.min(model.firstAfter(row, middle), last - 1);
  const before = Math.max(after - 1, model.rowFirst[row]);
  return model.begin[after] - middle <= middle - model.end(before) ? after : before;
}

/** Along an arrow from the selected slice. */
function along(timeline, forward) {
  const { model, state } = timeline;
  if (state.selected < 0) return;
  const flows = forward ? model.flowsFrom(state.selected) : model.flowsTo(state.selected);
  if (!flows.length) return timeline.say(`No arrow ${forward ? "starts" : "ends"} at this slice.`);
  timeline.select((forward ? model.flowDestination : model.flowSource)[flows[0]], true);
}
