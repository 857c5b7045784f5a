// What is looked at, and the same as the part of the address behind `#`, so that it can be sent.

/** What is shown at first; groups are open as far as some sixty lines allow. */
function firstState(model, dark) {
  const [begin, end] = firstView(model);
  return {
    begin,
    end,
    scroll: null, // null: as at first, which depends on the size of the window
    firstScroll: 0,
    closed: firstClosed(model, 60),
    pinned: [],
    selected: -1,
    cursor: -1, // number of the track that keys move from
    range: null, // [begin, end] that is measured
    search: null,
    arrows: true,
    dark,
  };
}

const FIRST_SLICES = 36; // of a simdgroup in the first view, if there are many more

/**
 * Everything; but if cores were looked at for a small part of the time only, that part, and of many
 * slices a piece from their middle: no pipeline can be seen in a sliver or in thousands of slices.
 */
function firstView(model) {
  if (model.firstView) return model.firstView;
  const piece = pieceOf(model) ?? corePart(model);
  if (!piece) return (model.firstView = [0, model.span]);
  const length = piece[1] - piece[0];
  const behind = unseenSpans(model).size ? 0.2 : 0.04; // room for the words that say how it goes on
  model.firstView = [Math.max(piece[0] - length * 0.04, 0), Math.min(piece[1] + length * behind, model.span)];
  return model.firstView;
}

/** Rows of the outermost slices of tracks with one of these roles. */
function outerRows(model, ...roles) {
  const tracks = model.tracks.filter((track) => roles.includes(track.role));
  return tracks.flatMap((track) => slicesRows(model, track).slice(0, 1));
}

/** Whether the trace looks into cores, not into an NPU. */
function hasCores(model) {
  return model.tracks.some((track) => track.role === "simdgroup");
}

/**
 * First and last time of slices of simdgroups, or else of an NPU's units, if that is a small part
 * of the trace; else null.
 */
function corePart(model) {
  if (model.corePart !== undefined) return model.corePart;
  const roles = hasCores(model) ? ["simdgroup"] : ["NPU unit", "DMA channel"];
  let [first, last] = [Infinity, -Infinity];
  for (const row of outerRows(model, ...roles)) {
    first = Math.min(first, model.begin[model.rowFirst[row]]);
    last = Math.max(last, model.end(model.rowFirst[row + 1] - 1));
  }
  return (model.corePart = last > first && last - first < model.span / 2 ? [first, last] : null);
}

/** Of many slices of the first simdgroup some in the middle; null if there are not many. */
function pieceOf(model) {
  const [row] = outerRows(model, "simdgroup");
  if (row === undefined) return null;
  const count = model.rowFirst[row + 1] - model.rowFirst[row];
  if (count < 5 * FIRST_SLICES) return null;
  const middle = model.rowFirst[row] + (count >> 1);
  return [model.begin[middle], model.end(middle + FIRST_SLICES)];
}

/**
 * How far to scroll at first, with `room` for lines: so far that the first simdgroups can be seen
 * with their threadgroup and its arrays. They are what people want to see, and lie below much else.
 * Of a whole model, in which they are slivers here and there, the dispatches tell more.
 */
function firstScroll(model, lines, room) {
  const first = lines.find((line) => line.track.role === "simdgroup");
  if (!first || first.track.peers.every((peer) => coverage(model, peer) < 0.25)) return 0;
  const group = model.tracks[first.track.parent] ?? first.track;
  const inGroup = (track) => track === group || (track && inGroup(model.tracks[track.parent]));
  const block = lines.filter((line) => inGroup(line.track));
  const bottom = block[block.length - 1].y + block[block.length - 1].height;
  const whole = lines.find((line) => line.y >= bottom - room); // no line is cut by the axis
  return Math.min(whole ? whole.y : 0, block[0].y);
}

/** Which share of the first view the outermost slices of a track fill. */
function coverage(model, track) {
  const [begin, end] = firstView(model);
  const [row] = slicesRows(model, track);
  if (row === undefined) return 0;
  let covered = 0;
  for (let i = model.firstAfter(row, begin); i < model.rowFirst[row + 1] && model.begin[i] < end; i++) {
    covered += Math.min(model.end(i), end) - Math.max(model.begin[i], begin);
  }
  return covered / Math.max(end - begin, 1);
}

/**
 * Opens groups level by level while no more than `most` lines are shown, and below that the first
 * group of each: one threadgroup's simdgroups stand for those of all.
 */
function firstClosed(model, most) {
  const closed = new Set(model.tracks.filter((track) => track.children.length).map((track) => track.number));
  let shown = model.roots.length;
  for (let level = model.roots; level.length; level = level.flatMap((track) => track.children)) {
    const more = level.reduce((sum, track) => sum + track.children.length, 0);
    if (shown + more > most) {
      openFirst(level, closed);
      break;
    }
    shown += more;
    for (const track of level) closed.delete(track.number);
  }
  return closed;
}

function openFirst(level, closed) {
  const group = level.find((track) => track.children.length);
  if (!group) return;
  closed.delete(group.leader.number);
  openFirst(group.children, closed);
}

/** The state as text; what is as at first is left out. */
function writeHash(model, state, time) {
  const parts = [];
  const add = (key, value) => parts.push(`${key}=${encodeURIComponent(value)}`);
  const short = (value) => String(Number(value.toPrecision(12)));
  const [begin, end] = firstView(model);
  if (state.begin !== begin || state.end !== end) add("v", `${short(state.begin)},${short(state.end)}`);
  if (state.scroll !== state.firstScroll) add("y", Math.round(state.scroll));
  if (state.selected >= 0) add("s", state.selected);
  if (state.range) add("r", state.range.map(short).join());
  if (time.unit !== time.units[0]) add("u", time.unit);
  const closed = [...state.closed].sort((a, b) => a - b).join();
  const first = [...firstClosed(model, 60)].sort((a, b) => a - b).join();
  if (closed !== first) add("c", closed);
  if (state.pinned.length) add("p", state.pinned.join());
  if (state.search) add("q", state.search.text);
  if (!state.arrows) add("a", 0);
  return parts.join("&");
}

/** Reads what `writeHash` wrote into a state; what makes no sense in this trace is passed over. */
function readHash(model, state, time, hash) {
  const values = new URLSearchParams(hash.replace(/^#/, ""));
  const numbers = (key) => (values.get(key) ?? "").split(",").filter((word) => word !== "").map(Number);
  const tracks = (key) => numbers(key).filter((number) => model.tracks[number]);
  const [begin, end] = numbers("v");
  if (begin < end) Object.assign(state, { begin, end });
  state.scroll = numbers("y")[0] >= 0 ? numbers("y")[0] : null;
  const [selected] = numbers("s");
  state.selected = Number.isInteger(selected) && selected >= 0 && selected < model.count ? selected : -1;
  const range = numbers("r");
  state.range = range[0] < range[1] ? range.slice(0, 2) : null;
  if (time.units.includes(values.get("u"))) time.unit = values.get("u");
  if (values.has("c")) state.closed = new Set(tracks("c"));
  state.pinned = [...new Set(tracks("p"))];
  const text = values.get("q");
  state.search = text ? new Search(model, text) : null;
  state.arrows = values.get("a") !== "0";
}
