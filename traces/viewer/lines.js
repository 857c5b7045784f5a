// Which tracks are shown and where: one line per track, groups open or closed, pinned lines on top.

const METRICS = {
  axis: 26, // height of the time axis
  row: 18, // one depth or lane of slices
  pad: 3, // above and below the rows of a line
  group: 22, // an open group, or a track without events
  thumbnail: 34, // a closed group: its tracks in small
  counter: 44,
  map: 118, // a memory map
  indent: 12, // of a child's label
  thread: 2, // one track in a closed group
};

/**
 * Lines of the tracks: {track, y, height, shape, level, label}, y from the top of all; and their
 * height. A group that holds nothing but one group shares its line. Of several runs matching tracks
 * lie one above the other.
 */
function layLines(model, state) {
  const lines = [];
  let y = 0;
  const visit = (tracks, level, before) => {
    const [first] = tracks;
    const closed = state.closed.has(first.leader.number);
    const children = matching(tracks);
    if (!closed && children.length === 1 && tracks.every(holdsOneGroup)) {
      return visit(children[0], level, `${before}${first.name} › `);
    }
    for (const track of tracks.every(isBare) && !closed ? [first] : tracks) {
      const run = model.runs && !(isBare(track) && !closed) ? ` · ${track.run.name}` : "";
      const line = { ...lineOf(model, track, closed, y), level, label: before + track.name + run };
      lines.push(line);
      y += line.height;
    }
    if (!closed) children.forEach((child) => visit(child, level + 1, ""));
  };
  (model.runs ? matching(model.runs) : model.roots.map((track) => [track])).forEach((tracks) => visit(tracks, 0, ""));
  const pinned = [];
  let top = 0;
  for (const number of state.pinned) {
    const track = model.tracks[number];
    const line = { ...lineOf(model, track, true, top), level: 0, label: model.path(track) };
    pinned.push(line);
    top += line.height;
  }
  return { lines, height: y, pinned, pinnedHeight: top, rowY: rowPlaces(model, lines) };
}

/** Whether a track has no events of its own. */
function isBare(track) {
  return track.firstRow === track.lastRow && !track.counter;
}

function holdsOneGroup(track) {
  const [child, ...others] = track.children;
  return isBare(track) && child && !others.length && isBare(child) && child.children.length > 0;
}

function lineOf(model, track, closed, y) {
  const shape = shapeOf(track, closed);
  return { track, y, shape, closed, height: heightOf(model, track, shape) };
}

function shapeOf(track, closed) {
  if (track.counter) return "counter";
  if (track.map) return "map";
  if (track.lastRow > track.firstRow) return "slices";
  return closed && track.children.length ? "thumbnail" : "group";
}

function heightOf(model, track, shape) {
  if (shape !== "slices") return METRICS[shape];
  return Math.max(slicesRows(model, track).length, 1) * METRICS.row + 2 * METRICS.pad;
}

/** The middle of each row from the top of all lines; rows in closed groups are at the group's. */
function rowPlaces(model, lines) {
  const places = new Float64Array(model.rows).fill(NaN);
  const all = (track, y) => {
    for (let row = track.firstRow; row < track.lastRow; row++) places[row] = y;
    for (const child of track.children) all(child, y);
  };
  for (const { track, y, height, shape, closed } of lines) {
    if (closed && track.children.length) all(track, y + height / 2);
    let level = 0;
    for (let row = track.firstRow; row < track.lastRow; row++) {
      const depth = model.rowInstants[row] ? level : level++;
      places[row] = shape === "slices" ? y + METRICS.pad + (depth + 0.5) * METRICS.row : y + height / 2;
    }
  }
  return places;
}

/** Position of the line at a height, or -1. */
function lineAt(lines, y) {
  let low = 0;
  let high = lines.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (lines[middle].y + lines[middle].height <= y) low = middle + 1;
    else high = middle;
  }
  return low < lines.length && lines[low].y <= y ? low : -1;
}

/** Tracks with rows below a track, in order; counters are left out. */
function descendants(track) {
  if (track.descendants) return track.descendants;
  const found = (track.descendants = []);
  const visit = (child) => {
    if (child.lastRow > child.firstRow) found.push(child);
    child.children.forEach(visit);
  };
  track.children.forEach(visit);
  return found;
}

/** The most that a map or counter shows at its top: the same for all that match, which are compared. */
function ceilingOf(model, track) {
  track.shared ??= Math.max(...track.peers.map((peer) => ownCeiling(model, peer)));
  return track.shared;
}

function ownCeiling(model, track) {
  if (track.ceiling !== undefined) return track.ceiling;
  let most = track.counter ? track.counter.peak : 0;
  if (track.map) {
    for (let i = model.rowFirst[track.firstRow]; i < model.rowFirst[track.lastRow]; i++) {
      const [offset, bytes] = model.range(i);
      most = Math.max(most, offset + bytes);
    }
  }
  const capacity = track.capacity ?? 0;
  // A capacity far above all that happened would press the picture flat.
  track.ceiling = capacity > 4 * most && most > 0 ? most : Math.max(most, capacity);
  return track.ceiling || (track.ceiling = 1);
}
