// What people ask of a range: how long each track worked, waited for what, had nothing to do;
// and which events have a word in their name or arguments.

/** Tracks whose time is worth a sum: those with slices that are no memory. */
function timedTracks(model) {
  return model.tracks.filter(
    (track) =>
      slicesRows(model, track).length > 0 &&
      track.role !== "memory map" &&
      track.role !== "threadgroup-memory array"
  );
}

const PARTITION = "core partition";
const DEVICE_ROLES = ["simdgroup", "core", "NPU unit", "DMA channel"];

/** Of these, the tracks of the device: what sums are about. All of them if none is the device's. */
function deviceTracks(tracks) {
  const found = tracks.filter((track) => DEVICE_ROLES.includes(track.role));
  return found.length ? found : tracks;
}

/** The tracks that sums are about: partitions of cores, whose sums text reports have, if there are any. */
function summedTracks(tracks) {
  const found = tracks.filter((track) => track.role === PARTITION);
  return found.length ? found : deviceTracks(tracks);
}

/** Rows of a track that hold slices. */
function slicesRows(model, track) {
  const rows = [];
  for (let row = track.firstRow; row < track.lastRow; row++) {
    if (!model.rowInstants[row]) rows.push(row);
  }
  return rows;
}

/**
 * Ticks by paint and idle ticks of a track between two times. Each tick counts once: for the
 * innermost slice, and if slices overlap, for the one that begins last. Steps in which a function
 * just works count for the function.
 */
function shares(model, track, begin, end) {
  const ticks = new Float64Array(model.paints.length);
  const rows = slicesRows(model, track);
  const lanes = rows.filter((row) => model.rowDepth[row] === 0).length;
  const covered = lanes > 1 ? sweepLanes(model, rows, begin, end, ticks)
    : nestedShares(model, rows, begin, end, ticks);
  return { track, ticks, idle: Math.max(end - begin - covered, 0) };
}

/**
 * Where cores go on unseen, by number of their track: [since when it is seen, until when, end, event
 * that marks it].
 */
function unseenSpans(model) {
  if (model.unseen) return model.unseen;
  const found = (model.unseen = new Map());
  model.rowInstants.forEach((isOfInstants, row) => {
    if (!isOfInstants) return;
    for (let i = model.rowFirst[row]; i < model.rowFirst[row + 1]; i++) {
      if (model.kinds[model.kind[i]].name !== "unseen") continue;
      const values = new Map(model.argumentsOf(i).map(({ name, value }) => [name, Number(value)]));
      const mark = model.begin[i];
      const span = [mark - (values.get("seen") ?? 0), mark, mark + (values.get("ticks") ?? 0), i];
      found.set(model.rowTrack[row], [...(found.get(model.rowTrack[row]) ?? []), span]);
    }
  });
  return found;
}

/** The shares of a track, of whose idle ticks those are `unseen` in which its core works unseen. */
function sharesWithUnseen(model, spans, track, begin, end) {
  const share = shares(model, track, begin, end);
  share.unseen = 0;
  let done = begin;
  for (const [first, last] of unseenOf(model, spans, track)) {
    const [from, to] = [Math.max(first, done), Math.min(last, end)];
    if (from < to) share.unseen += shares(model, track, from, to).idle;
    done = Math.max(done, to);
  }
  share.idle -= share.unseen;
  return share;
}

/** When the core of a track goes on unseen: [from, to, event that marks it] each. */
function unseenOf(model, spans, track) {
  let core = track;
  while (core && !spans.has(core.number)) core = model.tracks[core.parent];
  return ((core && spans.get(core.number)) ?? []).map(([seen, mark, last, event]) => {
    // What ends before the others do is followed by what is not shown, too.
    const own = lastEnd(model, track, mark);
    return [own > seen ? own : mark, last, event];
  });
}

/** When the last slice of a track ends that ends by a time. */
function lastEnd(model, track, time) {
  let found = -Infinity;
  for (const row of slicesRows(model, track)) {
    const next = model.firstAfter(row, time);
    if (model.rowDepth[row] === 0 && next > model.rowFirst[row]) found = Math.max(found, model.end(next - 1));
  }
  return found;
}

/** Adds each slice's own time to `ticks`; returns what the outermost ones cover. */
function nestedShares(model, rows, begin, end, ticks) {
  let covered = 0;
  for (const row of rows) {
    let above = row > 0 ? model.firstAfter(row - 1, begin) : 0;
    const nested = model.rowDepth[row] > 0;
    const last = model.rowFirst[row + 1];
    for (let i = model.firstAfter(row, begin); i < last && model.begin[i] < end; i++) {
      const time = Math.min(model.end(i), end) - Math.max(model.begin[i], begin);
      if (!nested || !model.plainWork(i)) ticks[model.paint[i]] += time;
      if (!nested) covered += time;
      if (!nested || model.plainWork(i)) continue;
      while (above + 1 < model.rowFirst[row] && model.begin[above + 1] <= model.begin[i]) above++;
      ticks[model.paint[above]] -= time;
    }
  }
  return covered;
}

/** The same for rows that overlap: between two neighbouring edges the latest begin counts. */
function sweepLanes(model, rows, begin, end, ticks) {
  const events = [];
  for (const row of rows) {
    const last = model.rowFirst[row + 1];
    for (let i = model.firstAfter(row, begin); i < last && model.begin[i] < end; i++) events.push(i);
  }
  events.sort((a, b) => model.begin[a] - model.begin[b] || model.end(b) - model.end(a));
  let covered = 0;
  const open = []; // by begin; the last one counts
  let now = begin;
  const advance = (time) => {
    while (now < time) {
      while (open.length && model.end(open[open.length - 1]) <= now) open.pop();
      if (!open.length) break;
      const top = open[open.length - 1];
      const until = Math.min(model.end(top), time);
      ticks[model.paint[top]] += until - now;
      covered += until - now;
      now = until;
    }
    now = Math.max(now, time);
  };
  for (const event of events) {
    advance(Math.max(model.begin[event], begin));
    open.push(event);
  }
  advance(end);
  return covered;
}

/** Ticks of a range by group: causes of the group "idle" count as idle, as what has no slice. */
function byGroup(model, share) {
  const sums = { busy: 0, stalled: 0, idle: share.idle, unseen: share.unseen };
  model.paints.forEach((paint, i) => {
    sums[paint.group] += share.ticks[i];
  });
  return sums;
}

/** What took longest between two times: name, paint, count and ticks, at most `most` of them. */
function longest(model, begin, end, most) {
  const found = new Map();
  for (const track of timedTracks(model).filter((one) => one.role !== PARTITION)) {
    for (const row of slicesRows(model, track)) {
      const last = model.rowFirst[row + 1];
      const nested = model.rowDepth[row] > 0;
      for (let i = model.firstAfter(row, begin); i < last && model.begin[i] < end; i++) {
        if (nested && repeats(model, i)) continue;
        const key = model.name[i] * model.paints.length + model.paint[i];
        let entry = found.get(key);
        if (!entry) found.set(key, (entry = { event: i, count: 0, ticks: 0 }));
        entry.count++;
        entry.ticks += Math.min(model.end(i), end) - Math.max(model.begin[i], begin);
      }
    }
  }
  return [...found.values()].sort((a, b) => b.ticks - a.ticks).slice(0, most);
}

/** Whether a slice says what the one around it says: that it works, or waits for the same. */
function repeats(model, event) {
  if (model.plainWork(event)) return true;
  const parent = model.paints[model.paint[event]].group === "busy" ? -1 : model.parentOf(event);
  return parent >= 0 && model.paint[parent] === model.paint[event];
}

/** For the overview: ticks by paint in each of `bins` equal parts, summed over the tracks. */
function profile(model, bins) {
  const width = model.span / bins;
  const paints = model.paints.length;
  const sums = new Float64Array(bins * paints);
  for (const track of deviceTracks(timedTracks(model))) {
    for (const row of slicesRows(model, track)) profileRow(model, row, width, bins, sums);
  }
  return sums;
}

function profileRow(model, row, width, bins, sums) {
  const paints = model.paints.length;
  const nested = model.rowDepth[row] > 0;
  let above = nested ? model.rowFirst[row - 1] : 0;
  for (let i = model.rowFirst[row]; i < model.rowFirst[row + 1]; i++) {
    const from = model.begin[i];
    const to = from + model.duration[i];
    if (nested && model.plainWork(i)) continue;
    if (nested) {
      while (above + 1 < model.rowFirst[row] && model.begin[above + 1] <= from) above++;
    }
    let bin = Math.min(Math.floor(from / width), bins - 1);
    for (let at = from; at < to; bin++) {
      const until = bin >= bins - 1 ? to : Math.min(to, (bin + 1) * width);
      sums[bin * paints + model.paint[i]] += until - at;
      if (nested) sums[bin * paints + model.paint[above]] -= until - at;
      at = until;
    }
  }
}

/** A text search: which events match, and how many do before each event. */
class Search {
  constructor(model, text) {
    this.text = text;
    this.matches = new Uint8Array(model.count);
    const test = comparison(text);
    if (test) markByArgument(model, test, this.matches);
    else markByText(model, text.toLowerCase(), this.matches);
    this.before = new Uint32Array(model.count + 1);
    for (let i = 0; i < model.count; i++) this.before[i + 1] = this.before[i] + this.matches[i];
    this.count = this.before[model.count];
  }

  /** Whether any event in [first, last) matches. */
  any(first, last) {
    return this.before[last] > this.before[first];
  }
}

const COMPARISON = /^\s*(\w+)\s*(<=|>=|!=|=|<|>)\s*(.+?)\s*$/;
const COMPARE = {
  "=": (a, b) => a === b,
  "!=": (a, b) => a !== b,
  "<": (a, b) => a < b,
  ">": (a, b) => a > b,
  "<=": (a, b) => a <= b,
  ">=": (a, b) => a >= b,
};

/** `bytes>=4096`, `duration>100` or `access=write` as name and test; null for plain words. */
function comparison(text) {
  const parts = COMPARISON.exec(text);
  if (!parts) return null;
  const [, name, sign, word] = parts;
  const number = Number(word);
  const compare = COMPARE[sign];
  if (Number.isNaN(number)) return { name, test: (value) => compare(String(value), word) };
  return {
    name,
    test: (value) => (typeof value === "string" ? compare(value, word) : compare(Number(value), number)),
  };
}

/** What every event has and what can be compared as if it were an argument. */
const PROPERTIES = {
  name: (model) => (i) => model.names[model.name[i]],
  kind: (model) => (i) => model.kinds[model.kind[i]].name,
  cause: (model) => (i) => {
    const { label, group } = model.paints[model.paint[i]];
    return group === "busy" ? undefined : label;
  },
  track: trackNames,
  duration: (model) => (i) => model.duration[i],
  begin: (model) => (i) => model.begin[i],
  end: (model) => (i) => model.end(i),
};

/** Names of tracks by event; events are asked for in their order. */
function trackNames(model) {
  let row = 0;
  return (i) => {
    while (i >= model.rowFirst[row + 1]) row++;
    return model.tracks[model.rowTrack[row]].name;
  };
}

function markByArgument(model, { name, test }, matches) {
  const value = Object.hasOwn(PROPERTIES, name) ? PROPERTIES[name](model) : argument(model, name);
  for (let i = 0; i < model.count; i++) {
    const found = value(i);
    if (found !== undefined && test(found)) matches[i] = 1;
  }
}

/** Values of an argument by event, whatever its kind. */
function argument(model, name) {
  const places = model.kinds.map((kind) => kind.arguments.findIndex((item) => item.name === name));
  const { kind, ranks } = model;
  return (i) => (places[kind[i]] < 0 ? undefined : model.argumentValue(kind[i], places[kind[i]], ranks[i]));
}

/** Events whose name, cause or text arguments contain the text; letters' case does not count. */
function markByText(model, text, matches) {
  const names = Uint8Array.from(model.names, (name) => Number(name.toLowerCase().includes(text)));
  const paints = Uint8Array.from(model.paints, (paint) => Number(paint.label.toLowerCase() === text));
  const texts = model.kinds.map((kind, number) =>
    kind.arguments
      .map((argument, place) => (argument.type === "text" ? model.argumentColumns(number)[place] : null))
      .filter((column) => column)
  );
  const anyText = texts.some((columns) => columns.length);
  const ranks = anyText ? model.ranks : null;
  for (let i = 0; i < model.count; i++) {
    if (names[model.name[i]] || paints[model.paint[i]]) matches[i] = 1;
    else if (anyText) {
      for (const column of texts[model.kind[i]]) {
        const name = column[ranks[i]];
        if (name > 0 && names[name - 1]) matches[i] = 1;
      }
    }
  }
}
