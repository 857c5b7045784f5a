// From a place in the picture to the event that is drawn there.

const REACH = 2; // pixels by which one may miss a thin slice

/** The event of a line at `x` and at `y` below the line's top, or -1. */
function pickEvent(model, line, scale, x, y) {
  if (line.shape === "map") return pickMap(model, line, scale, x, y);
  if (line.shape === "thumbnail") return pickThumbnail(model, line, scale, x, y);
  if (line.shape !== "slices") return -1;
  let level = Math.floor((y - METRICS.pad) / METRICS.row);
  for (let row = line.track.firstRow; row < line.track.lastRow; row++) {
    if (model.rowInstants[row]) {
      const mark = y < METRICS.pad + METRICS.row ? pickInstant(model, row, scale, x) : -1;
      if (mark >= 0) return mark;
    } else if (level-- === 0) return pickRow(model, row, scale, x);
  }
  return -1;
}

/** Of a row: the slice at `x`, or the longest of those in the same column of pixels. */
function pickRow(model, row, scale, x) {
  const last = model.rowFirst[row + 1];
  const first = model.firstAfter(row, scale.time(x));
  if (first < last && scale.x(model.begin[first]) <= x && model.duration[first] * scale.perTick >= NARROW) {
    return first;
  }
  const from = model.firstAfter(row, scale.time(x - REACH));
  const next = model.nextFrom(from, last, scale.time(x + REACH));
  return from < last && next > from && model.begin[from] < scale.time(x + REACH) ? model.peaks.of(from, next) : -1;
}

function pickInstant(model, row, scale, x) {
  const last = model.rowFirst[row + 1];
  const first = model.firstAfter(row, scale.time(x - MARK / 2));
  return first < last && scale.x(model.begin[first]) <= x + MARK / 2 ? first : -1;
}

function pickMap(model, line, scale, x, y) {
  const ceiling = ceilingOf(model, line.track);
  const address = ((line.height - 3 - y) / (line.height - 6)) * ceiling;
  const slack = (1.5 / (line.height - 6)) * ceiling;
  for (let row = line.track.firstRow; row < line.track.lastRow; row++) {
    const event = pickRow(model, row, scale, x);
    if (event < 0) continue;
    const [offset, bytes] = model.range(event);
    if (address >= offset - slack && address <= offset + bytes + slack) return event;
  }
  return -1;
}

function pickThumbnail(model, line, scale, x, y) {
  const { track, height } = thumbnailThread(line, y);
  if (!track || !height) return -1;
  const row = slicesRows(model, track)[0];
  return row === undefined ? -1 : pickRow(model, row, scale, x);
}

/** Which of its tracks a closed group shows at a height. */
function thumbnailThread(line, y) {
  const { tracks, shown, height } = thumbnailThreads(line);
  const place = Math.floor((y - 3) / Math.max(height, 1));
  const inside = place >= 0 && place < shown;
  return { track: inside ? tracks[Math.floor((place * tracks.length) / shown)] : null, height };
}
