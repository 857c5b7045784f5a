// The trace as the viewer asks for it: rows of events, the track tree, the longest event of a range.

const MIP = 16; // numbers under one entry of the level above

/** Where the largest of `value[i]` lies in any range, in logarithmic time. */
class Peaks {
  /** `value(i)` for i below `count`. */
  constructor(value, count) {
    this.value = value;
    this.levels = [];
    let below = null;
    for (let size = Math.ceil(count / MIP); size > 1; size = Math.ceil(size / MIP)) {
      below = this.level(size, below, below ? below.length : count);
      this.levels.push(below);
    }
  }

  level(size, below, count) {
    const peaks = new Uint32Array(size);
    const value = this.value;
    for (let i = 0, k = 0; i < size; i++) {
      const end = Math.min(k + MIP, count);
      let best = below ? below[k] : k;
      for (k++; k < end; k++) {
        const other = below ? below[k] : k;
        if (value(other) > value(best)) best = other;
      }
      peaks[i] = best;
    }
    return peaks;
  }

  /** Position of the largest value from `first` up to but not including `last`. */
  of(first, last) {
    let best = first;
    let from = first;
    let to = last;
    const consider = (i) => {
      if (this.value(i) > this.value(best)) best = i;
    };
    for (let level = -1; from < to; level++) {
      const peaks = level < 0 ? null : this.levels[level];
      const above = level + 1 < this.levels.length;
      while (from < to && (!above || from % MIP)) consider(peaks ? peaks[from++] : from++);
      while (from < to && to % MIP) consider(peaks ? peaks[--to] : --to);
      from /= MIP;
      to /= MIP;
    }
    return best;
  }
}

/** Everything about a trace; all arrays are indexed by event, row, track or counter point. */
class Model {
  constructor({ header, bytes }) {
    this.header = header;
    this.bytes = bytes;
    this.names = header.names;
    this.kinds = header.kinds;
    this.paints = header.paints;
    this.origin = BigInt(header.origin);
    this.span = Math.max(header.span, 1);
    this.readEvents();
    this.readRows();
    this.readCounters();
    this.readFlows();
    this.readTracks();
    this.argumentsRead = new Map();
  }

  readEvents() {
    const columns = this.header.events_columns;
    this.begin = readColumn(this.bytes, columns.begin);
    this.count = this.begin.length;
    this.name = readColumn(this.bytes, columns.name, Uint32Array);
    this.kind = readColumn(this.bytes, columns.kind, Uint16Array);
    this.paint = readColumn(this.bytes, columns.paint, Uint16Array);
    const duration = readColumn(this.bytes, columns.duration);
    for (const column of [this.name, this.kind, this.paint, duration]) {
      if (column.length !== this.count) {
        throw new PayloadError("The trace is damaged: its columns differ in length.");
      }
    }
    // Sums of durations: how busy a stretch of a row is takes one subtraction.
    this.sums = new Float64Array(this.count + 1);
    for (let i = 0; i < this.count; i++) this.sums[i + 1] = this.sums[i] + duration[i];
    this.peaks = new Peaks((i) => duration[i], this.count);
    this.duration = duration;
  }

  readRows() {
    const { first, track, depth, instants } = this.header.rows;
    this.rowFirst = Uint32Array.from([...first, this.count]);
    this.rowTrack = track;
    this.rowDepth = depth;
    this.rowInstants = instants;
    this.rows = track.length;
    for (let row = 0; row < this.rows; row++) accumulate(this.begin, this.rowFirst, row);
  }

  readCounters() {
    const { first, track, time, value } = this.header.counters;
    this.pointTime = readColumn(this.bytes, time);
    this.pointValue = readColumn(this.bytes, value);
    const last = this.pointTime.length;
    this.counterOf = new Map();
    track.forEach((owner, i) => {
      const bounds = { first: first[i], last: first[i + 1] ?? last };
      for (let k = bounds.first + 1; k < bounds.last; k++) {
        this.pointTime[k] += this.pointTime[k - 1];
      }
      this.counterOf.set(owner, bounds);
    });
    const values = this.pointValue;
    this.pointPeaks = new Peaks((i) => values[i], last);
    for (const bounds of this.counterOf.values()) {
      const peak = bounds.last > bounds.first ? values[this.pointPeaks.of(bounds.first, bounds.last)] : 0;
      bounds.peak = Math.max(peak, 0);
    }
  }

  readFlows() {
    const flows = this.header.flows;
    const source = readColumn(this.bytes, flows.source);
    const away = readColumn(this.bytes, flows.destination);
    this.flowKind = readColumn(this.bytes, flows.kind, Uint16Array);
    this.flowSource = new Uint32Array(source.length);
    this.flowDestination = new Uint32Array(source.length);
    let at = 0;
    for (let i = 0; i < source.length; i++) {
      at += source[i];
      this.flowSource[i] = at;
      this.flowDestination[i] = at + away[i];
      if (at >= this.count || this.flowDestination[i] >= this.count) {
        throw new PayloadError("The trace is damaged: a flow leads nowhere.");
      }
    }
    // Flows by where they end; those by where they start are in order as they are.
    this.flowsIn = new Uint32Array(source.length).map((_, i) => i);
    this.flowsIn.sort((a, b) => this.flowDestination[a] - this.flowDestination[b]);
  }

  readTracks() {
    this.tracks = this.header.tracks.map((track, number) => ({
      ...track,
      number,
      children: [],
      firstRow: 0,
      lastRow: 0,
      counter: this.counterOf.get(number) ?? null,
    }));
    this.roots = [];
    for (const track of this.tracks) {
      const parent = this.tracks[track.parent];
      track.level = parent ? parent.level + 1 : 0;
      (parent ? parent.children : this.roots).push(track);
    }
    this.readRuns();
    for (let row = 0; row < this.rows; row++) {
      const track = this.tracks[this.rowTrack[row]];
      if (!track) throw new PayloadError("The trace is damaged: a row belongs to no track.");
      if (track.lastRow === 0) track.firstRow = row;
      track.lastRow = row + 1;
    }
    for (const track of this.tracks) track.map = track.role === "memory map" && this.addresses(track);
  }

  /**
   * Whether the trace holds several runs, whose tracks lie one above the other where their paths are
   * the same. Each track knows those that match it, in the order of the runs, and the first of them.
   */
  readRuns() {
    this.runs = this.roots.length > 1 && this.roots.every((track) => track.role === "run") ? this.roots : null;
    for (const track of this.tracks) [track.run, track.peers] = [null, [track]];
    const visit = (tracks) => {
      for (const track of tracks) track.peers = tracks;
      matching(tracks).forEach(visit);
    };
    if (this.runs) {
      visit(this.runs);
      for (const track of this.tracks) track.run = this.tracks[track.parent]?.run ?? track;
    }
    for (const track of this.tracks) track.leader = track.peers[0];
  }

  /** Kinds of a memory map's events must have an offset and a size, else it is drawn as slices. */
  addresses(track) {
    if (track.lastRow === track.firstRow) return false;
    const kind = this.kinds[this.kind[this.rowFirst[track.firstRow]]];
    const names = kind.arguments.map((argument) => argument.name);
    return names.includes("offset") && names.includes("bytes");
  }

  /** Whether an event says no more than that the slice around it works. */
  plainWork(event) {
    return this.paints[this.paint[event]].style === "work";
  }

  end(event) {
    return this.begin[event] + this.duration[event];
  }

  /** The track's names from the root. */
  path(track) {
    const parent = this.tracks[track.parent];
    return parent ? `${this.path(parent)}.${track.name}` : track.name;
  }

  /** Row of an event. */
  rowOf(event) {
    return upperBound(this.rowFirst, 0, this.rows, event) - 1;
  }

  trackOf(event) {
    return this.tracks[this.rowTrack[this.rowOf(event)]];
  }

  /** First event of a row that ends after a time (or lies at it, without a duration). */
  firstAfter(row, time) {
    let low = this.rowFirst[row];
    let high = this.rowFirst[row + 1];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const end = this.begin[middle] + this.duration[middle];
      if (end > time || (this.duration[middle] === 0 && end === time)) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** First event from `from` up to `last` that begins at or after a time; near ones are fast. */
  nextFrom(from, last, time) {
    let step = 1;
    let low = from;
    while (low + step < last && this.begin[low + step] < time) {
      low += step;
      step *= 2;
    }
    return lowerBound(this.begin, low, Math.min(low + step, last), time);
  }

  /** Last point of a counter at or before a time, or -1. */
  pointAt(counter, time) {
    const found = upperBound(this.pointTime, counter.first, counter.last, time) - 1;
    return found >= counter.first ? found : -1;
  }

  /** The slice right around an event, or -1. */
  parentOf(event) {
    const row = this.rowOf(event);
    if (!this.rowDepth[row]) return -1;
    const above = this.firstAfter(row - 1, this.begin[event]);
    return above < this.rowFirst[row] && this.begin[above] <= this.begin[event] ? above : -1;
  }

  /** Numbers of the flows that start at an event. */
  flowsFrom(event) {
    const first = lowerBound(this.flowSource, 0, this.flowSource.length, event);
    const last = upperBound(this.flowSource, first, this.flowSource.length, event);
    return Array.from({ length: last - first }, (_, i) => first + i);
  }

  /** Numbers of the flows that end at an event. */
  flowsTo(event) {
    const found = [];
    const of = (i) => this.flowDestination[this.flowsIn[i]];
    let low = 0;
    let high = this.flowsIn.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (of(middle) < event) low = middle + 1;
      else high = middle;
    }
    for (; low < this.flowsIn.length && of(low) === event; low++) found.push(this.flowsIn[low]);
    return found;
  }

  /** Argument columns of a kind, read when first asked for. */
  argumentColumns(kind) {
    let columns = this.argumentsRead.get(kind);
    if (!columns) {
      columns = this.kinds[kind].arguments.map((argument) => readColumn(this.bytes, argument.column));
      this.argumentsRead.set(kind, columns);
    }
    return columns;
  }

  /** For each event its number among those of its kind; made when first asked for. */
  get ranks() {
    if (!this.ranksMade) {
      const counts = new Uint32Array(this.kinds.length);
      this.ranksMade = Uint32Array.from(this.kind, (kind) => counts[kind]++);
    }
    return this.ranksMade;
  }

  /** Value of an argument as a number, a BigInt or a string; undefined if the event has none. */
  argumentValue(kind, place, rank) {
    const value = this.argumentColumns(kind)[place][rank];
    if (this.kinds[kind].arguments[place].type === "text") return this.names[value - 1];
    if (typeof value === "bigint") return value === ABSENT ? undefined : value;
    return Number.isNaN(value) ? undefined : value;
  }

  /** The arguments that an event has: name, text, unit, value. */
  argumentsOf(event) {
    const kind = this.kind[event];
    const rank = this.ranks[event];
    return this.kinds[kind].arguments
      .map((argument, place) => ({ ...argument, value: this.argumentValue(kind, place, rank) }))
      .filter((argument) => argument.value !== undefined);
  }

  /** Offset and size of the range of a memory that an event of a map stands for. */
  range(event) {
    const kind = this.kind[event];
    const names = this.kinds[kind].arguments.map((argument) => argument.name);
    const of = (place) => (place < 0 ? 0 : Number(this.argumentValue(kind, place, this.ranks[event]) ?? 0));
    return [of(names.indexOf("offset")), of(names.indexOf("bytes"))];
  }
}

const ABSENT = -(2n ** 63n);

/** The children of tracks, those of one name together; of equal ones the first with the first. */
function matching(tracks) {
  const found = new Map();
  for (const track of tracks) {
    const seen = new Map();
    for (const child of track.children) {
      const place = seen.get(child.name) ?? 0;
      seen.set(child.name, place + 1);
      const key = JSON.stringify([child.name, place]);
      found.set(key, [...(found.get(key) ?? []), child]);
    }
  }
  return [...found.values()];
}

/** Sums in place over a row. */
function accumulate(values, first, row) {
  let sum = 0;
  for (let i = first[row]; i < first[row + 1]; i++) values[i] = sum += values[i];
}

/** First position in [low, high) whose value is at least `wanted`, else high. */
function lowerBound(values, low, high, wanted) {
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[middle] < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** First position in [low, high) whose value is above `wanted`, else high. */
function upperBound(values, low, high, wanted) {
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[middle] <= wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}
