// Puts what was planned on a canvas. All colours of the page itself come from the style sheet.

const FONT = "11.5px system-ui, -apple-system, 'Segoe UI', sans-serif";
const SMALL = "10.5px system-ui, -apple-system, 'Segoe UI', sans-serif";

const HATCHED = 0.6; // what is left of a colour in a hatching, for slices too narrow for one
const DIMMED = 0.18; // what is left of a colour that a search has not found
const LEAST_WITH_TAIL = 10; // letters of a text that is cut, from which on it keeps its end
const TAIL = 0.45; // of the room, for the end

/** Fills of all paints in one theme; hatchings for those that wait. */
class Inks {
  constructor(model, element, dark) {
    const style = getComputedStyle(element);
    const known = new Map();
    this.page = (name) => {
      if (!known.has(name)) known.set(name, style.getPropertyValue(`--${name}`).trim());
      return known.get(name);
    };
    this.dark = dark;
    this.background = this.page("page");
    this.styles = model.paints.map((paint) => styleOf(paint.style, dark));
    this.waits = model.paints.map((paint) => paint.group !== "busy");
    this.texts = this.styles.map((style) => (style.hatch ? this.page("ink") : inkOn(style.colour)));
    this.fills = [];
    this.pixels = [];
    this.hatches = [];
  }

  /** The plain fill of a style of the draw list. */
  fill(style) {
    return (this.fills[style] ??= this.mixed(style));
  }

  /** The same as a pixel of image data (little-endian, as all machines with browsers are). */
  pixel(style) {
    return (this.pixels[style] ??= pixelOf(this.fill(style)));
  }

  mixed(style) {
    const { colour } = this.styles[style >> 5];
    const share = ((style >> 1) & 15) / FULL;
    const strength = this.waits[style >> 5] ? HATCHED : 1;
    return mix(this.background, colour, share * strength * (style & 1 ? DIMMED : 1));
  }

  /** What a wide slice is filled with: hatched if it waits. */
  wide(context, style) {
    const { hatch } = this.styles[style >> 5];
    if (!hatch) return this.fill(style);
    return (this.hatches[style] ??= this.hatched(context, style, hatch));
  }

  hatched(context, style, hatch) {
    const { colour } = this.styles[style >> 5];
    const strength = style & 1 ? 0.3 : 1;
    const base = mix(this.background, colour, (this.dark ? 0.3 : 0.2) * strength);
    const line = mix(this.background, colour, (this.dark ? 0.72 : 0.7) * strength);
    const tile = document.createElement("canvas");
    tile.width = tile.height = 6;
    const pen = tile.getContext("2d");
    pen.fillStyle = base;
    pen.fillRect(0, 0, 6, 6);
    pen.fillStyle = line;
    for (let i = 0; i < 6; i++) HATCHES[hatch](pen, i);
    return context.createPattern(tile, "repeat");
  }
}

function pixelOf(colour) {
  const [red, green, blue] = channels(colour);
  return (255 << 24) | (blue << 16) | (green << 8) | red;
}

// Each draws step i of six of a tile of 6 x 6 pixels.
const HATCHES = {
  up: (pen, i) => pen.fillRect(i, 5 - i, 2, 1) || pen.fillRect(i - 6, 5 - i, 2, 1),
  down: (pen, i) => pen.fillRect(i, i, 2, 1) || pen.fillRect(i - 6, i, 2, 1),
  bars: (pen, i) => pen.fillRect(0, i, 2, 1),
  dots: (pen, i) => i % 3 === 0 && pen.fillRect(i, i, 2, 2),
};

/** Texts cut to a width. Letters are measured once each: asking for whole texts takes long. */
class Texts {
  constructor(context) {
    this.context = context;
    this.fonts = new Map();
  }

  /** Width of a letter alone; in a text it may be less, by kerning. */
  letter(font, letter) {
    let widths = this.fonts.get(font);
    if (!widths) this.fonts.set(font, (widths = new Map()));
    let width = widths.get(letter);
    if (width === undefined) {
      this.context.font = font;
      widths.set(letter, (width = this.context.measureText(letter).width));
    }
    return width;
  }

  /** The least that a text needs at most. */
  width(text, font) {
    let sum = 0;
    for (const letter of text) sum += this.letter(font, letter);
    return sum;
  }

  /**
   * The text, or as much of it as fits with an ellipsis; empty if that is next to nothing. Long ones
   * lose their middle: names that begin alike differ at the end.
   */
  cut(text, room, font = FONT) {
    text = visible(text.length > 400 ? text.slice(0, 200) + text.slice(-200) : text);
    const withEllipsis = room - this.letter(font, "…");
    let sum = 0;
    let kept = 0; // letters that fit with an ellipsis behind them
    for (const letter of text) { // whole characters, no halves of an emoji
      sum += this.letter(font, letter);
      if (sum <= withEllipsis) kept++;
      else if (sum > room) {
        if (kept < 4) return "";
        const tail = kept < LEAST_WITH_TAIL ? "" : this.tail(text, withEllipsis * TAIL, font);
        return `${this.head(text, withEllipsis - this.width(tail, font), font)}…${tail}`;
      }
    }
    return text;
  }

  /** The first letters that fit. */
  head(text, room, font) {
    let place = 0;
    for (const letter of text) {
      room -= this.letter(font, letter);
      if (room < 0) break;
      place += letter.length;
    }
    return text.slice(0, place);
  }

  /** The last letters that fit. */
  tail(text, room, font) {
    const letters = [...text];
    let first = letters.length;
    while (first > 0 && (room -= this.letter(font, letters[first - 1])) >= 0) first--;
    return letters.slice(first).join("");
  }
}

/** Rows of pixels, as one image: tens of thousands of small rectangles would take long. */
class Pixels {
  constructor() {
    this.canvas = document.createElement("canvas");
  }

  paint(context, strips, inks, width, height) {
    if (!strips.length) return;
    const pen = this.fit(width, height);
    for (const strip of strips) this.fill(strip, inks, width, height);
    pen.putImageData(this.image, 0, 0);
    context.imageSmoothingEnabled = false;
    context.drawImage(this.canvas, 0, 0, width, height);
  }

  fit(width, height) {
    if (this.canvas.width !== width || this.canvas.height !== height || !this.image) {
      this.canvas.width = width;
      this.canvas.height = height;
      this.image = new ImageData(width, height);
      this.words = new Int32Array(this.image.data.buffer);
    } else this.words.fill(0);
    return this.canvas.getContext("2d", { willReadFrequently: true });
  }

  fill({ left, y, height, styles }, inks, width, bottom) {
    const top = Math.max(y, 0);
    const end = Math.min(y + height, bottom);
    if (end <= top) return;
    const { words } = this;
    const first = top * width + left;
    for (let x = 0; x < styles.length; x++) if (styles[x]) words[first + x] = inks.pixel(styles[x] - 1);
    const last = first + styles.length;
    for (let row = top + 1; row < end; row++) words.copyWithin(first + (row - top) * width, first, last);
  }
}

/** Rectangles, then what lies on them. */
function paintList(context, list, inks, texts, model) {
  const { rects, size } = list;
  let last = -1;
  for (let at = 0; at < size; at += 5) {
    const style = rects[at + 4];
    const wide = rects[at + 2] >= 3 && inks.waits[style >> 5];
    const key = wide ? -2 - style : style;
    if (key !== last) {
      context.fillStyle = wide ? inks.wide(context, style) : inks.fill(style);
      last = key;
    }
    context.fillRect(rects[at], rects[at + 1], rects[at + 2], rects[at + 3]);
  }
  paintAreas(context, list.areas, inks);
  paintTexts(context, list.texts, inks, texts, model);
  for (const mark of list.marks) paintMark(context, mark, inks);
}

function paintTexts(context, items, inks, texts, model) {
  context.font = FONT;
  context.textBaseline = "middle";
  const names = [];
  for (const item of items) names.push(texts.cut(model.names[model.name[item.event]], item.width - 7));
  context.font = FONT; // measuring may have changed it
  items.forEach((item, i) => {
    if (!names[i]) return;
    context.fillStyle = item.dim ? inks.page("faint") : item.plain ? inks.page("muted") : inks.texts[item.paint];
    if (inks.styles[item.paint].hatch && !item.dim) paintPlate(context, item, names[i], inks, texts);
    context.fillText(names[i], item.x + 4, item.y + item.height / 2 + 0.5);
  });
}

/** Text on a hatching stands on a plate of its own, else it could not be read. */
function paintPlate(context, item, text, inks, texts) {
  const ink = context.fillStyle;
  const { colour } = inks.styles[item.paint];
  context.fillStyle = mix(inks.background, colour, inks.dark ? 0.3 : 0.2);
  const width = Math.min(texts.width(text, FONT) + 6, item.width - 1);
  context.fillRect(item.x + 1, item.y + 2, width, item.height - 4);
  context.fillStyle = ink;
  context.font = FONT;
}

function paintAreas(context, areas, inks) {
  for (const { points } of areas) {
    if (points.length < 4) continue;
    context.beginPath();
    context.moveTo(points[0], points[1]);
    for (let i = 2; i < points.length; i += 2) context.lineTo(points[i], points[i + 1]);
    context.fillStyle = inks.page("area");
    context.fill();
    context.beginPath();
    context.moveTo(points[2], points[3]);
    for (let i = 4; i < points.length - 2; i += 2) context.lineTo(points[i], points[i + 1]);
    context.strokeStyle = inks.page("area-line");
    context.lineWidth = 1;
    context.stroke();
  }
}

/** An instant: a diamond. */
function paintMark(context, { x, y, paint, dim }, inks) {
  const middle = y + METRICS.row / 2;
  context.beginPath();
  context.moveTo(x, middle - MARK / 2);
  context.lineTo(x + MARK / 2, middle);
  context.lineTo(x, middle + MARK / 2);
  context.lineTo(x - MARK / 2, middle);
  context.closePath();
  context.fillStyle = dim ? inks.page("faint") : inks.styles[paint].colour;
  context.fill();
  context.strokeStyle = inks.page("page");
  context.stroke();
}

/** Arrows from slice to slice. */
function paintLinks(context, links, scale, inks) {
  context.save();
  context.beginPath();
  context.rect(scale.left, 0, scale.right - scale.left, 1e5);
  context.clip();
  for (const link of links) {
    if (Number.isNaN(link.y) || Number.isNaN(link.toY)) continue;
    context.strokeStyle = context.fillStyle = inks.page(link.strong ? "accent" : "link");
    context.lineWidth = link.strong ? 2 : 1;
    paintArrow(context, link);
  }
  context.restore();
  context.lineWidth = 1;
}

function paintArrow(context, { x, y, toX, toY }) {
  const bend = Math.max(Math.min(Math.abs(toX - x) / 2, 60), 12);
  context.beginPath();
  context.moveTo(x, y);
  context.bezierCurveTo(x + bend, y, toX - bend, toY, toX - 4, toY);
  context.stroke();
  context.beginPath();
  context.moveTo(toX, toY);
  context.lineTo(toX - 6, toY - 3.5);
  context.lineTo(toX - 6, toY + 3.5);
  context.fill();
}

/** The time axis, and its lines through the picture. */
function paintAxis(context, scale, time, height, inks) {
  context.fillStyle = inks.page("bar");
  context.fillRect(0, 0, scale.right, METRICS.axis);
  context.font = SMALL;
  context.textBaseline = "middle";
  const step = time.step(90 / scale.perTick);
  context.save();
  context.beginPath();
  context.rect(scale.left, 0, scale.right - scale.left, height);
  context.clip();
  for (let i = Math.max(Math.floor(scale.begin / step), 0); i * step <= scale.end; i++) {
    const x = Math.round(scale.x(i * step));
    context.fillStyle = inks.page("grid");
    context.fillRect(x, METRICS.axis - 6, 1, height);
    const mark = time.mark(i * step, step);
    const end = x + 4 + context.measureText(mark).width;
    if (x < scale.left - 2 || end > scale.right) continue; // half a number misleads
    context.fillStyle = inks.page("muted");
    context.fillText(mark, x + 4, METRICS.axis / 2 - 1);
  }
  context.restore();
  context.fillStyle = inks.page("muted");
  context.fillText(time.unit === "cycles" ? "cycles" : "time", 8, METRICS.axis / 2);
}

function paintGrid(context, scale, time, top, height, inks) {
  const step = time.step(90 / scale.perTick);
  context.fillStyle = inks.page("grid");
  for (let i = Math.max(Math.ceil(scale.begin / step), 0); i * step <= scale.end; i++) {
    context.fillRect(Math.round(scale.x(i * step)), top, 1, height);
  }
}

/** What is behind the slices of a line. */
function paintBand(context, line, y, width, inks) {
  if (line.shape === "group" || line.shape === "thumbnail") {
    context.fillStyle = inks.page("band");
    context.fillRect(0, y, width, line.height);
  }
  context.fillStyle = inks.page("rule");
  context.fillRect(0, y + line.height - 1, width, 1);
}

/** The label of a line: a triangle if it opens, the name, a pin if it is pinned. */
function paintLabel(context, model, line, y, width, inks, texts, { cursor, pinned, copy }) {
  const { track } = line;
  const top = line.shape === "slices" && line.height > 40 ? y + METRICS.pad : y;
  const height = top === y ? line.height : METRICS.row;
  context.fillStyle = inks.page(cursor ? "cursor" : line.track.children.length ? "band" : "page");
  context.fillRect(0, y, width, line.height - 1);
  const x = 8 + Math.min(line.level, 8) * METRICS.indent;
  const middle = top + height / 2;
  context.fillStyle = inks.page("muted");
  if (track.children.length && !copy) paintTriangle(context, x, middle, line.closed);
  const room = width - x - 14 - (pinned ? 16 : 0);
  const name = texts.cut(line.label, room, track.children.length ? `600 ${FONT}` : FONT);
  context.font = track.children.length ? `600 ${FONT}` : FONT;
  context.textBaseline = "middle";
  context.fillStyle = inks.page("ink");
  const below = topOf(model, line);
  context.fillText(name, x + 12, middle + (below ? -6.5 : 0.5));
  if (below) {
    context.fillStyle = inks.page("muted");
    context.font = SMALL;
    context.fillText(texts.cut(below, room, SMALL), x + 12, middle + 7.5);
  }
  if (pinned) {
    context.fillStyle = inks.page("accent");
    context.fillRect(width - 14, middle - 4, 8, 3);
    context.fillRect(width - 11, middle - 1, 2, 6);
  }
}

/** What the top of a counter or a memory map stands for. */
function topOf(model, { track, shape }) {
  if (shape !== "counter" && shape !== "map") return "";
  const ceiling = ceilingOf(model, track);
  const unit = shape === "map" ? "B" : track.unit;
  const text = shortText(ceiling, visible(unit));
  if (track.capacity === ceiling) return `capacity ${text}`;
  const most = shape === "map" ? "up to" : "peak";
  return track.capacity ? `${most} ${text} of ${shortText(track.capacity, visible(unit))}` : `${most} ${text}`;
}

function paintTriangle(context, x, y, closed) {
  context.beginPath();
  if (closed) {
    context.moveTo(x, y - 4);
    context.lineTo(x + 6, y);
    context.lineTo(x, y + 4);
  } else {
    context.moveTo(x - 1, y - 3);
    context.lineTo(x + 7, y - 3);
    context.lineTo(x + 3, y + 3);
  }
  context.fill();
}
