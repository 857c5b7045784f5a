// The timeline: state and drawing. `window.timeline` is all that other scripts see of the page.

const MOST_LINKS = 40; // more arrows than these, beyond those of the selected event, hide the slices

class Timeline {
  constructor(model) {
    this.model = model;
    this.time = new TimeText(model.header.clock);
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    this.state = firstState(model, dark);
    readHash(model, this.state, this.time, location.hash);
    this.find = (name) => document.getElementById(name);
    this.picture = this.find("picture");
    this.context = this.picture.getContext("2d", { alpha: false });
    this.overlay = this.find("overlay").getContext("2d");
    this.texts = new Texts(this.context);
    this.pixels = new Pixels();
    this.scroller = this.find("scroll");
    this.lists = { scrolled: new DrawList(), pinned: new DrawList() };
    this.pending = false;
    this.pointer = null; // where the mouse is, in pixels of the picture
    this.applyTheme();
    this.layOut();
  }

  /** What is looked at: first and last tick, the selected event, the measured range. */
  get view() {
    const { begin, end, selected, range, scroll } = this.state;
    return { begin, end, selected, range, scroll, unit: this.time.unit };
  }

  // --- the page ---------------------------------------------------------------------------

  /** Applies the light or the dark theme. */
  applyTheme() {
    document.documentElement.classList.toggle("dark", this.state.dark);
    this.find("theme").textContent = this.state.dark ? "Light" : "Dark";
    this.inks = new Inks(this.model, document.documentElement, this.state.dark);
    showLegend(this.model, this.state.dark, (label) => this.highlight(label));
  }

  /** Everything beside the picture; after the picture, which people wait for. */
  showPanels() {
    showTitle(this.model, this.time);
    this.find("unit").textContent = this.time.unit;
    this.find("unit").hidden = this.time.units.length < 2;
    this.find("links").hidden = this.model.flowSource.length === 0;
    this.find("links").setAttribute("aria-pressed", String(this.state.arrows));
    this.showDetails();
    this.showAnalysis();
    this.showFound();
  }

  showDetails() {
    showDetails(this.model, this.time, this.state, (event) => this.select(event, true));
  }

  showAnalysis() {
    showAnalysis(this.model, this.time, this.state.range, this.state.dark);
  }

  showFound() {
    const { search } = this.state;
    const count = search && `${INTEGERS.format(search.count)} ${search.count === 1 ? "match" : "matches"}`;
    this.find("found").textContent = count || "";
    if (search && document.activeElement !== this.find("search")) this.find("search").value = search.text;
  }

  /** Says something in the status line, which screen readers read out. */
  say(text) {
    this.find("status").textContent = text;
  }

  // --- size and lines -----------------------------------------------------------------------

  layOut() {
    this.lines = layLines(this.model, this.state);
    this.measure();
  }

  /** Fits the canvases to the window and the scroll bar to the lines. */
  measure() {
    const width = this.scroller.clientWidth;
    const height = this.scroller.clientHeight;
    const ratio = window.devicePixelRatio || 1;
    this.size = { width, height, ratio, labels: width < 620 ? 110 : 210 };
    for (const canvas of [this.picture, this.overlay.canvas]) {
      const [across, down] = [Math.round(width * ratio), Math.round(height * ratio)];
      if (canvas.width !== across || canvas.height !== down) {
        canvas.width = across;
        canvas.height = down;
        canvas.style.width = `${width}px`;
        canvas.style.height = `${height}px`;
      }
    }
    const top = METRICS.axis + this.lines.pinnedHeight;
    this.find("spacer").style.height = `${Math.max(top + this.lines.height + 30 - height, 0)}px`;
  }

  /** Scrolls to where the state says, or to where one looks at first. */
  scrollAsAsked() {
    const { model, lines, scroller, size, state } = this;
    const most = scroller.scrollHeight - scroller.clientHeight;
    const first = Math.round(firstScroll(model, lines.lines, size.height - this.top));
    state.firstScroll = Math.min(first, Math.max(most, 0));
    scroller.scrollTop = state.scroll ?? state.firstScroll;
  }

  /** From ticks to pixels and back. */
  get scale() {
    return new Scale({ ...this.state, ...this.size });
  }

  /** Height of the canvas at which the scrolled lines begin. */
  get top() {
    return METRICS.axis + this.lines.pinnedHeight;
  }

  // --- drawing ------------------------------------------------------------------------------

  /** Draws before the next frame, once however often it was asked. */
  redraw() {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      this.draw();
    });
  }

  /** Draws now. Returns what was drawn: rectangles as [x, y, width, height, style], texts, ... */
  draw() {
    this.state.scroll = Math.round(this.scroller.scrollTop);
    this.plan();
    this.paint();
    this.paintOverlay();
    if (this.profile) paintOverview(this);
    this.remember();
    return this.drawn();
  }

  plan() {
    const { model, lists, lines, state } = this;
    const scale = this.scale;
    for (const list of Object.values(lists)) list.clear();
    for (const line of lines.pinned) {
      planLine(lists.pinned, model, line, scale, METRICS.axis + line.y, state.search);
    }
    for (const line of this.visible()) {
      planLine(lists.scrolled, model, line, scale, this.top + line.y - state.scroll, state.search);
    }
    const shown = state.arrows ? MOST_LINKS : 0;
    this.links = planLinks(model, scale, lines.rowY, state.selected, shown);
  }

  /** The scrolled lines that can be seen. */
  visible() {
    const { lines } = this.lines;
    const first = Math.max(lineAt(lines, this.state.scroll), 0);
    const found = [];
    const bottom = this.state.scroll + this.size.height - this.top;
    for (let i = first; i < lines.length && lines[i].y < bottom; i++) found.push(lines[i]);
    return found;
  }

  paint() {
    const { context, size, inks, texts, lists, model, state } = this;
    const scale = this.scale;
    context.setTransform(size.ratio, 0, 0, size.ratio, 0, 0);
    context.textAlign = "left";
    context.fillStyle = inks.background;
    context.fillRect(0, 0, size.width, size.height);
    const shown = this.visible();
    for (const line of shown) paintBand(context, line, this.top + line.y - state.scroll, size.width, inks);
    paintGrid(context, scale, this.time, this.top, size.height, inks);
    this.pixels.paint(context, lists.scrolled.strips, inks, size.width, size.height);
    paintList(context, lists.scrolled, inks, texts, model);
    const shift = this.top - state.scroll;
    const links = this.links.map((link) => ({ ...link, y: link.y + shift, toY: link.toY + shift }));
    paintLinks(context, links, scale, inks);
    for (const line of shown) this.paintLabel(line, this.top + line.y - state.scroll, false);
    this.paintPinned(scale);
    paintAxis(context, scale, this.time, METRICS.axis, inks);
    context.fillStyle = inks.page("rule");
    context.fillRect(size.labels - 1, 0, 1, size.height);
  }

  paintPinned(scale) {
    const { context, size, inks, lines, lists } = this;
    if (!lines.pinned.length) return;
    context.fillStyle = inks.background;
    context.fillRect(0, METRICS.axis, size.width, lines.pinnedHeight);
    for (const line of lines.pinned) paintBand(context, line, METRICS.axis + line.y, size.width, inks);
    this.pixels.paint(context, lists.pinned.strips, inks, size.width, size.height);
    paintList(context, lists.pinned, inks, this.texts, this.model);
    for (const line of lines.pinned) this.paintLabel(line, METRICS.axis + line.y, true);
    context.fillStyle = inks.page("muted");
    context.fillRect(0, this.top - 2, size.width, 2);
  }

  paintLabel(line, y, pinned) {
    const cursor = line.track.number === this.state.cursor;
    const marked = this.state.pinned.includes(line.track.number);
    paintLabel(this.context, this.model, line, y, this.size.labels, this.inks, this.texts, { cursor, pinned: marked, copy: pinned });
  }

  /** What moves with the mouse or is selected lies on a canvas of its own. */
  paintOverlay() {
    const { overlay, size } = this;
    overlay.setTransform(size.ratio, 0, 0, size.ratio, 0, 0);
    overlay.clearRect(0, 0, size.width, size.height);
    paintMarks(this);
  }

  /** Plain data of the last drawing, for tests and scripts. */
  drawn() {
    const plain = (list) => {
      const rects = [];
      for (let at = 0; at < list.size; at += 5) rects.push(Array.from(list.rects.subarray(at, at + 5)));
      return {
        rects,
        runs: list.runs(),
        texts: list.texts.map(({ x, y, width, event }) => [x, y, width, this.model.names[this.model.name[event]]]),
        areas: list.areas.map((area) => area.points),
        marks: list.marks.map(({ x, y, event }) => [x, y, event]),
      };
    };
    const { scrolled, pinned } = this.lists;
    const self = this;
    return { get scrolled() { return plain(scrolled); }, get pinned() { return plain(pinned); }, links: self.links };
  }

  /** Keeps the view in the address, a little later than it changes. */
  remember() {
    clearTimeout(this.remembering);
    this.remembering = setTimeout(() => {
      const hash = `#${writeHash(this.model, this.state, this.time)}`;
      if (hash !== (location.hash || "#")) history.replaceState(null, "", hash);
    }, 300);
  }

  // --- what is looked at --------------------------------------------------------------------

  /** Shows the ticks from `begin` to `end`, as far as they make sense. */
  setView(begin, end) {
    const { span } = this.model;
    const length = Math.min(Math.max(end - begin, Math.min(4, span)), span * 1.1);
    const middle = (begin + end) / 2;
    const slack = Math.max(length * 0.5, 0);
    const first = Math.min(Math.max(middle - length / 2, -slack), span - length + slack);
    this.state.begin = length >= span * 1.1 ? -span * 0.05 : first;
    this.state.end = this.state.begin + length;
    this.redraw();
  }

  fit() {
    this.state.begin = 0;
    this.state.end = this.model.span;
    this.redraw();
  }

  /** Zooms by a factor around a time. */
  zoom(factor, time) {
    const { begin, end } = this.state;
    const around = Math.min(Math.max(time, begin), end);
    this.setView(around - (around - begin) * factor, around + (end - around) * factor);
  }

  /** Moves by a share of what is shown. */
  pan(share) {
    const { begin, end } = this.state;
    const by = (end - begin) * share;
    this.setView(begin + by, end + by);
  }

  /** Selects an event, or none with -1; `show` brings it into view. */
  select(event, show = false) {
    this.state.selected = event;
    if (event >= 0) {
      this.state.cursor = this.model.trackOf(event).number;
      if (show) this.reveal(event);
      this.say(this.describe(event));
    } else this.say("Nothing is selected.");
    this.showDetails();
    this.redraw();
  }

  /** One line about an event. */
  describe(event) {
    const { model, time } = this;
    const paint = model.paints[model.paint[event]];
    const words = [visible(model.names[model.name[event]]), `on ${visible(model.path(model.trackOf(event)))}`];
    if (model.duration[event] > 0) words.push(time.both(model.duration[event]));
    words.push(`from ${time.text(model.begin[event])} on`);
    if (paint.group === "stalled") words.push(`waits for ${paint.label}`);
    return words.join(", ");
  }

  /** Opens, scrolls and moves so that an event can be seen. */
  reveal(event) {
    const { model, state } = this;
    let changed = false;
    for (let track = model.tracks[model.trackOf(event).parent]; track; track = model.tracks[track.parent]) {
      changed = state.closed.delete(track.leader.number) || changed;
    }
    if (changed) this.layOut();
    this.scrollTo(this.lines.rowY[model.rowOf(event)]);
    const { begin, end } = state;
    const [from, to] = [model.begin[event], model.end(event)];
    if (to < begin || from > end) {
      const length = end - begin;
      this.setView((from + to - length) / 2, (from + to + length) / 2);
    } else if (to - from < (end - begin) / 2000) this.setView(from - (to - from) * 20 - 2, to + (to - from) * 20 + 2);
  }

  scrollTo(y) {
    const room = this.size.height - this.top;
    const { scrollTop } = this.scroller;
    if (y < scrollTop + 20 || y > scrollTop + room - 20) this.scroller.scrollTop = y - room / 2;
  }

  /** Zooms to an event, with some room around it. */
  zoomTo(event) {
    const { model } = this;
    const length = Math.max(model.duration[event], 1);
    this.setView(model.begin[event] - length * 0.1, model.end(event) + length * 0.1);
  }

  /** Measures from one time to another, or nothing. */
  setRange(range) {
    this.state.range = range && range[0] < range[1] ? range : null;
    const text = this.state.range
      ? `Measured ${this.time.both(range[1] - range[0])} from ${this.time.text(Math.round(range[0]))} on`
      : "Nothing is measured.";
    this.say(text);
    this.showAnalysis();
    if (this.state.selected < 0) this.showDetails();
    this.redraw();
  }

  /** Searches for a text; an empty one ends the search. */
  search(text) {
    this.state.search = text.trim() ? new Search(this.model, text.trim()) : null;
    this.showFound();
    this.redraw();
  }

  /** Searches for an entry of the legend; the second time ends the search. */
  highlight(label) {
    this.search(this.state.search?.text === label ? "" : label);
    this.find("search").value = this.state.search?.text ?? "";
  }

  /** Selects the next match in time of all tracks, or the one before. */
  nextMatch(forward = true) {
    const { search, selected } = this.state;
    if (!search || !search.count) return;
    const { count } = this.model;
    const step = forward ? 1 : count - 1;
    let event = selected < 0 ? (forward ? count - 1 : 0) : selected;
    do event = (event + step) % count;
    while (!search.matches[event]);
    this.select(event, true);
    this.find("found").textContent = `${search.before[event] + 1} of ${INTEGERS.format(search.count)}`;
  }

  toggle(track) {
    track = track.leader;
    if (!track.children.length) return;
    const { closed } = this.state;
    if (!closed.delete(track.number)) closed.add(track.number);
    this.say(`${visible(track.name)} is ${closed.has(track.number) ? "closed" : "open"}`);
    this.layOut();
    this.redraw();
  }

  pin(track) {
    const { pinned } = this.state;
    const place = pinned.indexOf(track.number);
    if (place < 0) pinned.push(track.number);
    else pinned.splice(place, 1);
    this.say(`${visible(track.name)} is ${place < 0 ? "pinned to the top" : "no longer pinned"}`);
    this.layOut();
    this.redraw();
  }

  /** Closes all groups, or opens them. */
  closeAll(closed) {
    const groups = this.model.tracks.filter((track) => track.children.length);
    this.state.closed = new Set(closed ? groups.map((track) => track.number) : []);
    this.layOut();
    this.redraw();
  }

  /** Goes to the view of an address; nothing happens if it is the present one. */
  restore(hash) {
    if (hash.replace(/^#/, "") === writeHash(this.model, this.state, this.time)) return;
    const { dark } = this.state;
    this.state = firstState(this.model, dark);
    readHash(this.model, this.state, this.time, hash);
    this.layOut();
    this.scrollAsAsked();
    this.showPanels();
    this.redraw();
  }

  /** The trace in one line. */
  summary() {
    const { model, time } = this;
    const tracks = model.tracks.filter((track) => track.lastRow > track.firstRow || track.counter);
    const count = `${counted(model.header.events, "event")} on ${counted(tracks.length, "track")}`;
    const [begin, end] = firstView(model);
    const part = end - begin < model.span ? "; a part is shown, Fit shows all" : "";
    return `${count} in ${time.both(model.header.span)}${part}`;
  }

  setUnit(unit) {
    this.time.unit = unit;
    this.showPanels();
    this.redraw();
  }

  setDark(dark) {
    this.state.dark = dark;
    this.applyTheme();
    this.showPanels();
    this.drawOverview();
    this.redraw();
  }

  // --- the overview -------------------------------------------------------------------------

  drawOverview() {
    this.profile ??= profile(this.model, OVERVIEW_BINS);
    paintOverview(this);
  }

  // --- picking ------------------------------------------------------------------------------

  /** What lies at a place of the picture: area, line, track, event (-1 if none). */
  pick(x, y) {
    if (y < METRICS.axis) return { area: "axis", event: -1 };
    const pinned = y < this.top;
    const lines = pinned ? this.lines.pinned : this.lines.lines;
    const at = pinned ? y - METRICS.axis : y - this.top + this.scroller.scrollTop;
    const line = lines[lineAt(lines, at)];
    if (!line) return { area: "empty", event: -1 };
    const found = { area: x < this.size.labels ? "label" : "row", line, track: line.track, pinned, event: -1 };
    if (found.area === "row") found.event = pickEvent(this.model, line, this.scale, x, at - line.y);
    return found;
  }
}
