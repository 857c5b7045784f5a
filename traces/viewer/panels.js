// The page around the picture: title, legend, what is selected, where the time goes.
// Whatever comes from the trace is put in as text, never as HTML.

const TAIL_LETTERS = 12; // at the end of long names, which are always shown
const SHOWN_TRACKS = 200; // lines of the analysis
const SHOWN_NAMES = 12;

/** An element with a class, text and children. */
function make(tag, name = "", ...content) {
  const element = document.createElement(tag);
  if (name) element.className = name;
  element.append(...content);
  return element;
}

/** A small square in the look of a paint. */
function swatch(style, dark) {
  const { colour, hatch } = styleOf(style, dark);
  const box = make("i", hatch ? `swatch ${hatch}` : "swatch");
  box.style.setProperty("--colour", colour);
  return box;
}

function showTitle(model, time) {
  const { title, clock, complete, events } = model.header;
  document.getElementById("title").textContent = visible(title) || "Timeline";
  const facts = [clock.name && visible(clock.name), clock.unit === "cycle" && frequency(clock.hz)];
  facts.push(`first to last event ${time.both(model.header.span)}`, counted(events, "event"));
  if (!complete) facts.push("incomplete: the recording was cut off");
  const line = document.getElementById("facts");
  line.textContent = facts.filter(Boolean).join(" · ");
  line.classList.toggle("warning", !complete);
  const notes = document.getElementById("notes");
  notes.textContent = model.header.notes.map(visible).join(" ");
  notes.hidden = !model.header.notes.length;
}

function frequency(hz) {
  return shortText(hz, "Hz").replace(/([kMGT]?Hz)$/, " $1").replace("  ", " ");
}

/** The legend: functions and categories first, then what was waited for. `find` searches. */
function showLegend(model, dark, find) {
  const list = document.getElementById("legend");
  list.replaceChildren();
  for (const group of ["busy", "stalled", "idle"]) {
    const paints = model.paints.filter((paint) => paint.group === group && paint.label);
    for (const paint of paints) {
      const label = make("span", "", visible(paint.label));
      const button = make("button", "", swatch(paint.style, dark), label);
      button.title = `${visible(paint.text || paint.label)}\nClick to see these alone.`;
      button.addEventListener("click", () => find(paint.label));
      const heading = group === "stalled" && paint === paints[0] ? ["Waits for"] : [];
      list.append(make("li", "", ...heading.map((text) => make("b", "", text)), button));
    }
  }
}

/** What is selected; if nothing is, what took longest. `go` selects an event. */
function showDetails(model, time, { selected, range, dark }, go) {
  const box = document.getElementById("details");
  box.replaceChildren();
  if (selected < 0) showLongest(box, model, time, range, dark, go);
  else showEvent(box, model, time, selected, dark, go);
}

/** A text that loses its middle where it does not fit: names that begin alike differ at the end. */
function middleCut(text) {
  const letters = [...text];
  if (letters.length <= 2 * TAIL_LETTERS) return text;
  const tail = letters.splice(-TAIL_LETTERS).join("");
  return make("span", "cut", make("span", "", letters.join("")), make("span", "", tail));
}

/** A table of names with their time in all tracks. */
function showLongest(box, model, time, range, dark, go) {
  const [begin, end] = range ?? corePart(model) ?? [0, model.header.span];
  const entries = longest(model, begin, end, SHOWN_NAMES);
  if (entries.length) {
    const body = make("tbody");
    for (const { event, count, ticks } of entries) {
      const full = visible(model.names[model.name[event]]);
      const button = make("button", "link", middleCut(full));
      button.title = `${full}: go to the first one`;
      button.addEventListener("click", () => go(event));
      const name = make("td", "name", swatch(model.paints[model.paint[event]].style, dark), button);
      const numbers = [INTEGERS.format(count), time.text(Math.round(ticks))];
      body.append(make("tr", "", name, ...numbers.map((text) => make("td", "number", text))));
    }
    box.append(make("table", "", heading(["longest"], ["times", "on all tracks"]), body));
  }
  box.append(make("p", "hint", "Click a slice to see what it is; shift-drag to measure; ? for keys."));
}

/** One event as a list of terms. */
function showEvent(box, model, time, event, dark, go) {
  const paint = model.paints[model.paint[event]];
  const kind = model.kinds[model.kind[event]];
  const name = visible(model.names[model.name[event]]);
  box.append(make("h2", "", swatch(paint.style, dark), name));
  const list = make("dl");
  const term = (word, text, title = "") => {
    const key = make("dt", "", word);
    key.title = title;
    list.append(key, make("dd", "", text));
  };
  term("what", kind.name.replaceAll("_", " "), kind.text);
  term("track", visible(model.path(model.trackOf(event))));
  if (model.duration[event] > 0) term("duration", time.both(model.duration[event]));
  term("begins", time.both(model.begin[event]));
  if (model.duration[event] > 0) term("ends", time.both(model.end(event)));
  if (paint.group !== "busy") term("waits for", paint.label, paint.text);
  for (const item of model.argumentsOf(event)) {
    term(item.name.replaceAll("_", " "), valueText(item.value, item.unit), item.text);
  }
  for (const flow of model.flowsFrom(event)) linked(list, model, flow, "leads to", model.flowDestination, go);
  for (const flow of model.flowsTo(event)) linked(list, model, flow, "comes from", model.flowSource, go);
  box.append(list);
}

/** A line that leads along a flow. */
function linked(list, model, flow, word, ends, go) {
  const other = ends[flow];
  const name = visible(model.names[model.name[other]]);
  const button = make("button", "link", `${name} on ${visible(model.path(model.trackOf(other)))}`);
  button.addEventListener("click", () => go(other));
  const key = make("dt", "", word);
  key.title = model.kinds[model.flowKind[flow]].text;
  list.append(key, make("dd", "", button));
}

/** Busy, stalled by cause and idle per track between two times. */
function showAnalysis(model, time, range, dark) {
  const box = document.getElementById("analysis");
  box.replaceChildren();
  const tracks = timedTracks(model);
  const part = corePart(model);
  const [begin, end] = range ?? part ?? [0, model.header.span];
  const who = hasCores(model) ? "cores" : "the NPU's units";
  const whole = part ? `${time.both(end - begin)} in which ${who} were at work` : "the whole trace";
  const where = range ? `${time.both(end - begin)} from ${time.text(begin)} on` : whole;
  box.append(make("h2", "", `Where the time goes: ${where}`));
  if (!tracks.length || end <= begin) {
    box.append(make("p", "hint", "No track has slices with a duration here."));
    return;
  }
  const spans = unseenSpans(model);
  const all = tracks.map((track) => sharesWithUnseen(model, spans, track, begin, end));
  const groups = ["busy", "stalled", "idle", ...(all.some((share) => share.unseen > 0) ? ["unseen"] : [])];
  const body = make("tbody");
  const head = heading(["track", ""], groups, ["waits most for"]);
  const device = new Set(summedTracks(tracks));
  const summed = all.filter((share) => device.has(share.track));
  const line = (share, name, count) =>
    analysisRow(model, time, share, name, [end - begin, count], groups, dark);
  for (const [name, some] of sums(model, summed)) {
    if (some.length > 1) body.append(line(total(model, some), name, some.length));
  }
  // What is summed first: the others wait for it, or are parts of it.
  const others = all.filter((share) => !device.has(share.track));
  const simdgroups = new Set(deviceTracks(tracks));
  const ordered = [
    ...summed,
    ...others.filter((share) => simdgroups.has(share.track)),
    ...others.filter((share) => !simdgroups.has(share.track)),
  ];
  const names = shortNames(model, tracks);
  for (const share of ordered.slice(0, SHOWN_TRACKS)) body.append(line(share, names.get(share.track), 1));
  box.append(make("table", "", head, body));
  if (all.length > SHOWN_TRACKS) {
    box.append(make("p", "hint", `and ${all.length - SHOWN_TRACKS} more tracks`));
  }
}

/** Sums over tracks, one for each run: what each is called, and the shares of its tracks. */
function sums(model, summed) {
  const name = (some) =>
    some[0]?.track.role === PARTITION ? `the ${some.length} partitions` : `these ${some.length} tracks`;
  if (!model.runs) return [[name(summed), summed]];
  return model.runs.map((run) => {
    const some = summed.filter((share) => share.track.run === run);
    return [`${run.name}: ${name(some)}`, some];
  });
}

/** The head of a table: columns of words, of numbers, and of words again. */
function heading(words, numbers, more = []) {
  const row = make("tr");
  for (const word of [...words, ...numbers, ...more]) {
    const cell = make("th", numbers.includes(word) ? "number" : "", word);
    cell.scope = "col";
    row.append(cell);
  }
  return make("thead", "", row);
}

/** Names of tracks, with as many of their groups before them as tell them apart. */
function shortNames(model, tracks) {
  const paths = tracks.map((track) => [...ancestors(model, track), track].map((one) => one.name));
  const counts = new Map();
  const ends = (path) => path.map((_, i) => path.slice(i).join("."));
  for (const path of paths) for (const end of ends(path)) counts.set(end, (counts.get(end) ?? 0) + 1);
  return new Map(
    tracks.map((track, i) => {
      const short = ends(paths[i]).reverse().find((end) => counts.get(end) === 1);
      return [track, visible(short ?? paths[i].join("."))];
    })
  );
}

function ancestors(model, track) {
  const parent = model.tracks[track.parent];
  return parent ? [...ancestors(model, parent), parent] : [];
}

/** Sums over tracks. */
function total(model, all) {
  const ticks = new Float64Array(model.paints.length);
  let [idle, unseen] = [0, 0];
  for (const share of all) {
    idle += share.idle;
    unseen += share.unseen;
    share.ticks.forEach((value, i) => (ticks[i] += value));
  }
  return { ticks, idle, unseen };
}

function analysisRow(model, time, share, name, [length, tracks], groups, dark) {
  const whole = length * tracks;
  const sums = byGroup(model, share);
  const label = make("th", "", middleCut(name));
  label.title = name;
  label.scope = "row";
  const row = make("tr", "", label, make("td", "bar", shareBar(model, time, share, whole, dark)));
  for (const group of groups) {
    const cell = make("td", "number", percent(sums[group] / whole));
    cell.title = time.both(sums[group] / tracks);
    row.append(cell);
  }
  row.append(make("td", "cause", mainWait(model, share, whole)));
  return row;
}

/** The parts of a track's time as a bar, work first, in the order of the legend. */
function shareBar(model, time, share, whole, dark) {
  const bar = make("div", "shares");
  const order = { busy: 0, stalled: 1, idle: 2 };
  const parts = model.paints.map((paint, i) => ({ paint, ticks: share.ticks[i] }));
  parts.sort((a, b) => order[a.paint.group] - order[b.paint.group]);
  for (const { paint, ticks } of parts) {
    if (ticks / whole < 0.001) continue;
    const { colour, hatch } = styleOf(paint.style, dark);
    const part = make("span", hatch);
    part.style.setProperty("--colour", colour);
    part.style.width = `${(100 * ticks) / whole}%`;
    part.title = `${visible(paint.label)}: ${percent(ticks / whole)}, ${time.both(ticks)}`;
    bar.append(part);
  }
  return bar;
}

function mainWait(model, share, whole) {
  let most = -1;
  model.paints.forEach((paint, i) => {
    if (paint.group === "stalled" && share.ticks[i] > 0 && !(share.ticks[i] <= share.ticks[most])) most = i;
  });
  return most < 0 ? "" : `${visible(model.paints[most].label)} ${percent(share.ticks[most] / whole)}`;
}

function percent(share) {
  return share > 0 && share < 0.0005 ? "< 0.1 %" : `${(100 * share).toFixed(1)} %`;
}
