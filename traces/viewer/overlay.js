// What lies over the picture: the selected slice, the measured range, the line under the mouse; and
// the overview of the whole trace above it.

const OVERVIEW_BINS = 600;

/** Everything over the picture. */
function paintMarks(timeline) {
  const { overlay, size, inks } = timeline;
  const scale = timeline.scale;
  overlay.save();
  overlay.beginPath();
  overlay.rect(size.labels, 0, size.width - size.labels, size.height);
  overlay.clip();
  paintRange(timeline, scale);
  if (timeline.state.selected >= 0) outline(timeline, scale, timeline.state.selected, inks.page("accent"));
  if (timeline.pointer) paintPointer(timeline, scale);
  overlay.restore();
}

/** The measured range, with its length on the axis. */
function paintRange(timeline, scale) {
  const { overlay, size, inks, state, time } = timeline;
  if (!state.range) return;
  const [x, end] = state.range.map((tick) => scale.x(tick));
  overlay.fillStyle = inks.page("veil");
  overlay.fillRect(x, 0, end - x, size.height);
  overlay.fillStyle = inks.page("edge");
  overlay.fillRect(Math.round(x), 0, 1, size.height);
  overlay.fillRect(Math.round(end) - 1, 0, 1, size.height);
  const text = time.both(state.range[1] - state.range[0]);
  overlay.font = `600 ${FONT}`;
  const width = overlay.measureText(text).width;
  const middle = Math.min(Math.max((x + end) / 2, size.labels + width / 2 + 8), size.width - width / 2 - 8);
  overlay.fillRect(middle - width / 2 - 6, 3, width + 12, 18);
  overlay.fillStyle = inks.page("page");
  overlay.textBaseline = "middle";
  overlay.fillText(text, middle - width / 2, 12.5);
}

/** Frames around an event, wherever its track is shown. */
function outline(timeline, scale, event, colour) {
  const { overlay, model, lines, state, top, size } = timeline;
  const number = model.trackOf(event).number;
  const frame = (shown, from, low, high) => {
    overlay.save();
    overlay.beginPath();
    overlay.rect(size.labels, low, size.width - size.labels, high - low);
    overlay.clip();
    for (const line of shown) {
      if (line.track.number === number) frameIn(overlay, model, line, scale, from + line.y, event);
    }
    overlay.restore();
  };
  overlay.strokeStyle = colour;
  overlay.lineWidth = 2;
  frame(lines.pinned, METRICS.axis, METRICS.axis, top);
  frame(timeline.visible(), top - state.scroll, top, size.height);
}

function frameIn(overlay, model, line, scale, y, event) {
  const [low, height] = heightsOf(model, line, event);
  const x = scale.x(model.begin[event]);
  const width = Math.max(model.duration[event] * scale.perTick, 3);
  overlay.strokeRect(x - 0.5, y + low - 0.5, width, height + 1);
}

/** Where an event lies in its line: from the line's top, and how high it is. */
function heightsOf(model, line, event) {
  if (line.shape === "map") return mapPlace(model, line, event);
  const row = model.rowOf(event);
  const rows = slicesRows(model, line.track);
  const level = model.rowInstants[row] ? 0 : rows.indexOf(row);
  return [METRICS.pad + level * METRICS.row, METRICS.row - 1];
}

/** A line under the mouse, and the values of counters there. */
function paintPointer(timeline, scale) {
  const { overlay, size, inks, pointer } = timeline;
  if (pointer.x < size.labels) return;
  overlay.fillStyle = inks.page("faint");
  overlay.fillRect(pointer.x, 0, 1, size.height);
  const when = scale.time(pointer.x);
  overlay.font = SMALL;
  overlay.textBaseline = "middle";
  if (pointer.y < METRICS.axis + 400) paintWhen(timeline, pointer.x, when);
  for (const line of timeline.visible()) {
    if (line.shape === "counter") paintValue(timeline, line, pointer.x, when);
  }
}

function paintWhen(timeline, x, when) {
  const { overlay, size, inks, time } = timeline;
  const text = time.text(Math.round(when));
  const width = overlay.measureText(text).width + 10;
  const left = Math.min(x + 1, size.width - width);
  overlay.fillStyle = inks.page("ink");
  overlay.fillRect(left, 5, width, 16);
  overlay.fillStyle = inks.page("page");
  overlay.fillText(text, left + 5, 13.5);
}

function paintValue(timeline, line, x, when) {
  const { overlay, inks, model, state, top, size } = timeline;
  const point = model.pointAt(line.track.counter, when);
  if (point < 0) return;
  const text = valueText(model.pointValue[point], line.track.unit);
  const y = top + line.y - state.scroll + line.height / 2;
  if (y - 8 < top) return; // scrolled away; the axis and pinned lines are there
  const width = overlay.measureText(text).width + 10;
  const left = Math.min(x + 4, size.width - width);
  overlay.fillStyle = inks.page("area-line");
  overlay.fillRect(left, y - 8, width, 16);
  overlay.fillStyle = inks.page("page");
  overlay.fillText(text, left + 5, y + 0.5);
}

/** The whole trace in a strip, and what part of it is shown below. */
function paintOverview(timeline) {
  const { model, inks, size, state } = timeline;
  const canvas = document.getElementById("overview");
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  const context = canvas.getContext("2d");
  const strip = profilePicture(timeline, width, height);
  if (canvas.width !== strip.width || canvas.height !== strip.height) {
    canvas.width = strip.width;
    canvas.height = strip.height;
  }
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.drawImage(strip, 0, 0);
  context.scale(size.ratio, size.ratio);
  const x = (tick) => size.labels + ((width - size.labels) * tick) / model.span;
  const [left, right] = [Math.max(x(state.begin), size.labels), Math.min(x(state.end), width)];
  context.fillStyle = inks.page("shade");
  context.fillRect(size.labels, 0, left - size.labels, height);
  context.fillRect(right, 0, width - right, height);
  context.strokeStyle = inks.page("edge");
  context.strokeRect(left + 0.5, 0.5, Math.max(right - left - 1, 2), height - 1);
}

/** The strip without the frame: it changes with size and colours only. */
function profilePicture(timeline, width, height) {
  const { inks, size } = timeline;
  const known = timeline.strip;
  if (known && known.inks === inks && known.of === width && known.ratio === size.ratio) return known.canvas;
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(width * size.ratio);
  canvas.height = Math.round(height * size.ratio);
  const context = canvas.getContext("2d");
  context.scale(size.ratio, size.ratio);
  context.fillStyle = inks.page("bar");
  context.fillRect(0, 0, width, height);
  paintProfile(context, timeline, width, height);
  context.font = SMALL;
  context.textBaseline = "middle";
  context.fillStyle = inks.page("muted");
  context.fillText("whole trace", 8, height / 2);
  timeline.strip = { canvas, inks, of: width, ratio: size.ratio };
  return canvas;
}

/** Time by paint, stacked: work at the bottom, what waits above it, fainter. */
function paintProfile(context, timeline, width, height) {
  const { model, inks, size, profile } = timeline;
  const paints = model.paints.length;
  let most = 0;
  for (let bin = 0; bin < OVERVIEW_BINS; bin++) {
    let sum = 0;
    for (let i = 0; i < paints; i++) sum += profile[bin * paints + i];
    most = Math.max(most, sum);
  }
  if (!most) return;
  const order = model.paints.map((_, i) => i).filter((i) => model.paints[i].group !== "idle");
  order.sort((a, b) => (model.paints[a].group === "stalled") - (model.paints[b].group === "stalled"));
  const step = (width - size.labels) / OVERVIEW_BINS;
  for (let bin = 0; bin < OVERVIEW_BINS; bin++) {
    const left = size.labels + Math.round(bin * step);
    const wide = size.labels + Math.round((bin + 1) * step) - left;
    let y = height - 1;
    for (const i of order) {
      const tall = (profile[bin * paints + i] / most) * (height - 4);
      if (tall <= 0) continue;
      context.fillStyle = inks.fill(i * 32 + FULL * 2);
      context.fillRect(left, y - tall, wide, tall);
      y -= tall;
    }
  }
}
