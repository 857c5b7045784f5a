// What is drawn, as numbers: rectangles of paints, texts in boxes, areas, marks, links.
// The cost follows the pixels, not the events: what is narrower than a pixel is skipped by search.

const SMALL_SLICE = 4; // pixels below which a slice is put into a row of pixels, not drawn by itself
const FULL = 15; // strongest shade of a paint: all of the pixel is covered
const FAINTEST = 6; // shade of what covers next to nothing of its pixel: it must still be seen
const NARROW = 1.6; // pixels below which events share a column of pixels
const UNSEEN = 1; // shade of what goes on unseen
const LEAST_WORD = 30; // pixels that a word needs
const MARK = 9; // pixels, size of an instant

/** Rectangles and the rest for one part of the picture. */
class DrawList {
  constructor() {
    this.rects = new Float64Array(5 * 4096);
    this.spare = []; // strips of earlier drawings, to be used again
    this.strips = [];
    this.clear();
  }

  clear() {
    this.size = 0;
    this.spare.push(...this.strips);
    this.strips = [];
    this.texts = [];
    this.areas = [];
    this.marks = [];
  }

  /** One rectangle; `style` is paint * 32 + shade * 2 + dimmed. */
  rect(x, y, width, height, style) {
    let at = this.size;
    if (at + 5 > this.rects.length) {
      const larger = new Float64Array(2 * this.rects.length);
      larger.set(this.rects);
      this.rects = larger;
    }
    const rects = this.rects;
    rects[at++] = x;
    rects[at++] = y;
    rects[at++] = width;
    rects[at++] = height;
    rects[at++] = style;
    this.size = at;
  }

  /** A row of pixels from `left` to `right`: styles plus one, 0 where nothing is. */
  strip(left, right, y, height) {
    const strip = this.spare.pop() ?? {};
    const length = Math.max(right - left, 0);
    if (strip.styles?.length === length) strip.styles.fill(0);
    else strip.styles = new Int32Array(length);
    this.strips.push(Object.assign(strip, { left, y, height }));
    return strip;
  }

  /** The strips as rectangles, equal neighbours joined: for those who read a picture. */
  runs() {
    const found = [];
    for (const { left, y, height, styles } of this.strips) {
      for (let x = 0, end = 0; x < styles.length; x = end) {
        for (end = x + 1; styles[end] === styles[x]; end++);
        if (styles[x]) found.push([left + x, y, end - x, height, styles[x] - 1]);
      }
    }
    return found;
  }
}

/** From time to pixels and back, for one view. */
class Scale {
  constructor(view) {
    this.begin = view.begin;
    this.end = view.end;
    this.left = view.labels;
    this.right = view.width;
    this.perTick = (this.right - this.left) / (view.end - view.begin);
  }

  x(time) {
    return this.left + (time - this.begin) * this.perTick;
  }

  time(x) {
    return this.begin + (x - this.left) / this.perTick;
  }
}

/** Draws one row of slices into a list. */
function planRow(list, model, row, scale, y, height, search, texts) {
  const { begin, duration, paint } = model;
  const last = model.rowFirst[row + 1];
  const ticks = 1 / scale.perTick;
  const carried = { to: NaN, ticks: 0 };
  let strip = null;
  let i = model.firstAfter(row, scale.begin);
  while (i < last && begin[i] < scale.end) {
    const x = scale.x(begin[i]);
    const width = duration[i] * scale.perTick;
    if (width >= SMALL_SLICE) {
      planSlice(list, model, i, x, x + width, scale, y, height, search, texts);
      i++;
      continue;
    }
    strip ??= list.strip(scale.left, scale.right, y, height);
    if (width >= NARROW) {
      const from = Math.max(Math.round(x) - scale.left, 0);
      const to = Math.max(Math.round(x + width), Math.round(x) + 1) - scale.left;
      strip.styles.fill(paint[i] * 32 + FULL * 2 + (search && !search.matches[i] ? 2 : 1), from, to);
      i++;
      continue;
    }
    const column = Math.floor(x);
    let next = model.nextFrom(i, last, scale.time(column + 1));
    if (next <= i) next = i + 1;
    let best = next - i > 1 ? model.peaks.of(i, next) : i;
    if (best > i && duration[best] * scale.perTick >= NARROW) {
      next = best; // only the last one can reach out of the column: it is drawn by itself
      best = next - i > 1 ? model.peaks.of(i, next) : i;
    }
    const until = scale.time(column + 1);
    const over = Math.max(model.end(next - 1) - until, 0); // of the last slice, in the next pixel
    const inside = model.sums[next] - model.sums[i] - over + (carried.to === column ? carried.ticks : 0);
    Object.assign(carried, { to: column + 1, ticks: over });
    const share = inside / ticks;
    const shade = Math.max(Math.min(Math.round(share * FULL), FULL), FAINTEST);
    const dim = search && !search.any(i, next) ? 1 : 0;
    if (column >= scale.left) strip.styles[column - scale.left] = paint[best] * 32 + shade * 2 + dim + 1;
    i = next;
  }
}

/** One slice that is wide enough to be seen by itself, cut at the edges of the view. */
function planSlice(list, model, event, x, end, scale, y, height, search, texts) {
  const left = Math.max(Math.round(x), scale.left);
  const right = Math.min(Math.round(end), scale.right);
  const gap = end - x >= 4 ? 1 : 0; // between neighbours
  const width = Math.max(right - left - gap, 1);
  const dim = search && !search.matches[event] ? 1 : 0;
  list.rect(left, y, width, height, model.paint[event] * 32 + FULL * 2 + dim);
  if (texts && width >= 22 && !model.plainWork(event)) {
    list.texts.push({ x: left, y, width, height, event, paint: model.paint[event], dim });
  }
}

/** Instants of a row: a mark each, or a tick where they crowd. */
function planInstants(list, model, row, scale, y, search) {
  const last = model.rowFirst[row + 1];
  let i = model.firstAfter(row, scale.begin);
  while (i < last && model.begin[i] <= scale.end) {
    const x = scale.x(model.begin[i]);
    const dim = search && !search.matches[i];
    if (x >= scale.left) list.marks.push({ x: Math.round(x), y, event: i, paint: model.paint[i], dim });
    i = Math.max(model.nextFrom(i, last, scale.time(x + 2)), i + 1);
  }
}

/** A counter as the corners of an area: x, height as a share; steps hold until the next. */
function planCounter(list, model, line, scale, y) {
  const { counter } = line.track;
  const ceiling = ceilingOf(model, line.track);
  const points = [];
  const reach = line.height - 8;
  const bottom = y + line.height - 3;
  let height = 0;
  let i = model.pointAt(counter, scale.begin);
  const step = (x, value) => {
    const next = bottom - (Math.max(value, 0) / ceiling) * reach;
    points.push(x, points.length ? height : bottom, x, next);
    height = next;
  };
  if (i >= counter.first) step(scale.left, model.pointValue[i]);
  i = Math.max(i + 1, counter.first);
  while (i < counter.last && model.pointTime[i] < scale.end) {
    const column = Math.floor(scale.x(model.pointTime[i]));
    const next = Math.max(nextPoint(model, i, counter.last, scale.time(column + 1)), i + 1);
    if (next - i > 1) step(column, model.pointValue[model.pointPeaks.of(i, next)]);
    step(next - i > 1 ? column + 1 : Math.round(scale.x(model.pointTime[i])), model.pointValue[next - 1]);
    i = next;
  }
  const end = Math.min(scale.right, Math.round(scale.x(model.span)));
  if (points.length) points.push(end, height, end, bottom);
  list.areas.push({ points, y, height: line.height });
}

function nextPoint(model, from, last, time) {
  return lowerBound(model.pointTime, from, last, time);
}

/** A memory: ranges of addresses over the times in which they hold something. */
function planMap(list, model, line, scale, y, search) {
  const { track } = line;
  for (let row = track.firstRow; row < track.lastRow; row++) {
    const last = model.rowFirst[row + 1];
    let i = model.firstAfter(row, scale.begin);
    while (i < last && model.begin[i] < scale.end) {
      const [x, end] = [scale.x(model.begin[i]), scale.x(model.end(i))];
      const [low, height] = mapPlace(model, line, i);
      planSlice(list, model, i, x, end, scale, y + low, height, search, height >= 12);
      if (end - x >= NARROW) i++;
      else i = Math.max(model.nextFrom(i, last, scale.time(Math.floor(x) + 1)), i + 1);
    }
  }
}

/** Where a range of addresses lies in the line of its memory, from the top; and its height. */
function mapPlace(model, line, event) {
  const ceiling = ceilingOf(model, line.track);
  const reach = line.height - 6;
  const [offset, bytes] = model.range(event);
  const height = Math.max((bytes / ceiling) * reach, 1.5);
  return [line.height - 3 - (offset / ceiling) * reach - height, Math.max(height - 0.5, 1)];
}

/** A closed group shows its tracks as threads: all of them, or some that are evenly spread. */
function thumbnailThreads(line) {
  const tracks = descendants(line.track);
  const room = line.height - 6;
  const shown = Math.min(tracks.length, Math.floor(room / METRICS.thread));
  const height = Math.min(Math.floor(room / Math.max(shown, 1)), 8);
  return { tracks, shown, height };
}

function planThumbnail(list, model, line, scale, y, search) {
  const { tracks, shown, height } = thumbnailThreads(line);
  for (let i = 0; i < shown; i++) {
    const track = tracks[Math.floor((i * tracks.length) / shown)];
    const row = slicesRows(model, track)[0];
    const top = y + 3 + i * height;
    if (row !== undefined) planRow(list, model, row, scale, top, height - (height > 3), search, false);
  }
}

/** Where a core goes on unseen, its lines and those below it say so. */
function planUnseen(list, model, line, scale, y, search) {
  if (line.shape !== "slices" || line.track.role === "core partition") return;
  for (const [begin, end, event] of unseenOf(model, unseenSpans(model), line.track)) {
    if (end <= scale.begin || begin >= scale.end) continue;
    const x = Math.max(scale.x(begin), scale.left);
    const width = Math.min(scale.x(end), scale.right) - x;
    const height = line.height - 2 * METRICS.pad;
    const [paint, dim] = [model.paint[event], search && !search.matches[event]];
    list.rect(x, y + METRICS.pad, width, height, paint * 32 + UNSEEN * 2 + Number(Boolean(dim)));
    const item = { event, paint, x, y: y + METRICS.pad, width, height: METRICS.row, dim, plain: true };
    if (width > LEAST_WORD) list.texts.push(item);
  }
}

/** One line of the picture at a height `y` of the canvas. */
function planLine(list, model, line, scale, y, search) {
  planUnseen(list, model, line, scale, y, search);
  if (line.shape === "counter") planCounter(list, model, line, scale, y);
  else if (line.shape === "map") planMap(list, model, line, scale, y, search);
  else if (line.shape === "thumbnail") planThumbnail(list, model, line, scale, y, search);
  else if (line.shape === "slices") planSlices(list, model, line, scale, y, search);
}

function planSlices(list, model, line, scale, y, search) {
  let level = 0;
  for (let row = line.track.firstRow; row < line.track.lastRow; row++) {
    const top = y + METRICS.pad + level * METRICS.row;
    if (model.rowInstants[row]) planInstants(list, model, row, scale, top, search);
    else {
      planRow(list, model, row, scale, top, METRICS.row - 1, search, true);
      level++;
    }
  }
}

/** Where an arrow ends: where the consumer begins, or where its wait for the producer ends. */
function arrival(model, flow) {
  const source = model.flowSource[flow];
  const target = model.flowDestination[flow];
  const sent = model.end(source);
  if (model.begin[target] >= sent || model.duration[target] === 0) return model.begin[target];
  const row = model.rowOf(target) + 1;
  if (row < model.rows && model.rowDepth[row] > model.rowDepth[row - 1]) {
    const child = model.firstAfter(row, sent - 0.5);
    const waits = child < model.rowFirst[row + 1] && model.paints[model.paint[child]].group === "stalled";
    if (waits && model.begin[child] <= sent) return model.end(child);
  }
  return Math.min(sent, model.end(target));
}

/** Arrows in view: those of the selected event, or all if they are no more than `most`. */
function planLinks(model, scale, rowY, selected, most) {
  const chosen = selected < 0 ? [] : [...model.flowsFrom(selected), ...model.flowsTo(selected)];
  if (chosen.length) most = 0;
  const others = [];
  for (let i = 0; i < model.flowSource.length && others.length <= most; i++) {
    const source = model.flowSource[i];
    const target = model.flowDestination[i];
    if (model.begin[target] < scale.begin && model.end(source) < scale.begin) continue;
    if (model.begin[source] > scale.end || model.begin[target] > scale.end) continue;
    others.push(i);
  }
  const shown = others.length > most ? [] : others;
  const link = (i, strong) => ({
    x: scale.x(model.end(model.flowSource[i])),
    y: rowY[model.rowOf(model.flowSource[i])],
    toX: scale.x(arrival(model, i)),
    toY: rowY[model.rowOf(model.flowDestination[i])],
    strong,
  });
  return [...shown.map((i) => link(i, false)), ...chosen.map((i) => link(i, true))];
}
