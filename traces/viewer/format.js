// Numbers and names for people.

const INTEGERS = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
const DECIMALS = new Intl.NumberFormat("en-US", { maximumSignificantDigits: 5 });
const TIMES = [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"], [1e-12, "ps"]];
const PREFIXES = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]];
const BINARY = [[2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"]];

/** "1 event", "2,000 events". */
function counted(count, thing) {
  return `${INTEGERS.format(count)} ${count === 1 ? thing : `${thing}s`}`;
}

/** Seconds in the unit that reads best. */
function secondsText(seconds, digits = 4) {
  if (!seconds) return "0 s";
  const size = Math.abs(seconds);
  const [scale, unit] = TIMES.find(([scale]) => size >= scale * 0.9999999) ?? TIMES[TIMES.length - 1];
  return `${trimmed(seconds / scale, digits)} ${unit}`;
}

function trimmed(value, digits) {
  return Number(value.toPrecision(digits)).toLocaleString("en-US", { maximumFractionDigits: 12 });
}

/** A value of a counter or an argument with its unit. */
function valueText(value, unit) {
  if (typeof value === "string") return visible(value);
  if (unit === "address") return "0x" + BigInt(value).toString(16);
  if (typeof value === "bigint") return `${value.toLocaleString("en-US")} ${unit}`.trim();
  const exact = Number.isInteger(value) ? INTEGERS.format(value) : DECIMALS.format(value);
  return `${exact} ${unit}`.trim();
}

/** The same with a prefix and few digits, for narrow places. */
function shortText(value, unit) {
  const table = unit === "B" ? BINARY : PREFIXES;
  const [scale, prefix] = table.find(([scale]) => Math.abs(value) >= scale) ?? [1, ""];
  if (unit === "B") return `${trimmed(value / scale, 3)} ${prefix || "B"}`;
  const known = /^(B|FLOP|Hz|s|MAC|\w+)?(\/.*)?$/.test(unit);
  return `${trimmed(value / scale, 3)} ${known ? prefix : ""}${unit}`.trim();
}

/** Control characters as pictures of themselves, so that nothing hides in a name. */
function visible(text) {
  return text.replace(/[\u0000-\u001f]/g, (letter) => String.fromCodePoint(0x2400 + letter.charCodeAt(0)))
    .replace(/[\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "\u2421");
}

/** What a clock counts, as the page shows it: in cycles, or in seconds. */
class TimeText {
  constructor(clock) {
    this.seconds = 1 / clock.hz;
    this.cycles = clock.unit === "cycle";
    this.units = this.cycles ? ["cycles", "time"] : ["time"];
    this.unit = this.units[0];
  }

  /** A duration in the chosen unit. */
  text(ticks) {
    if (this.unit === "time") return secondsText(ticks * this.seconds);
    const whole = Number.isInteger(ticks) ? INTEGERS.format(ticks) : trimmed(ticks, 4);
    return `${whole} ${ticks === 1 ? "cycle" : "cycles"}`;
  }

  /** A duration in all units. */
  both(ticks) {
    const time = secondsText(ticks * this.seconds);
    if (!this.cycles) return time;
    return `${INTEGERS.format(Math.round(ticks))} ${ticks === 1 ? "cycle" : "cycles"} (${time})`;
  }

  /** Ticks between two marks of the axis, at least `least` of them. */
  step(least) {
    const scale = this.unit === "time" ? this.seconds : 1;
    const power = 10 ** Math.floor(Math.log10(least * scale));
    const nice = [1, 2, 5, 10].find((factor) => factor * power >= least * scale) * power;
    return nice / scale;
  }

  /** The mark of the axis at a time, to the precision of the step. */
  mark(ticks, step) {
    if (this.unit === "cycles") {
      return step >= 1 ? INTEGERS.format(ticks) : ticks.toFixed(Math.ceil(-Math.log10(step)));
    }
    const size = Math.max(Math.abs(ticks), step) * this.seconds;
    const [scale, unit] = TIMES.find(([scale]) => size >= scale * 0.9999999) ?? TIMES[TIMES.length - 1];
    const digits = Math.max(0, Math.ceil(-Math.log10((step * this.seconds) / scale) - 1e-9));
    return `${((ticks * this.seconds) / scale).toFixed(Math.min(digits, 9))} ${unit}`;
  }
}
