// From the text in the page to typed arrays: base64, gzip, a JSON header, columns.

const VERSION = 1;

/** What is wrong with the payload, for people. */
class PayloadError extends Error {}

/** The header and the bytes behind it. Throws PayloadError. */
async function readPayload(element) {
  if (!element) throw new PayloadError("The file holds no trace: its end is missing.");
  const version = Number(element.dataset.version);
  if (version !== VERSION) {
    throw new PayloadError(
      `The trace is of version ${element.dataset.version}; this page reads version ${VERSION}.`
    );
  }
  const packed = fromBase64(element.textContent.trim());
  const bytes = await gunzip(packed);
  return splitPayload(bytes);
}

function fromBase64(text) {
  try {
    if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
    return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  } catch {
    throw new PayloadError(
      `The trace is damaged: its ${text.length} characters are no base64. Was the file cut off?`
    );
  }
}

async function gunzip(packed) {
  if (typeof DecompressionStream === "undefined") {
    throw new PayloadError(
      "This browser is too old: Chrome 111, Firefox 113 or Safari 16.4 are needed."
    );
  }
  try {
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  } catch {
    throw new PayloadError(
      `The trace is damaged: its ${packed.length} bytes do not decompress. Was the file cut off?`
    );
  }
}

function splitPayload(bytes) {
  try {
    const length = new DataView(bytes.buffer).getUint32(0, true);
    const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
    return { header, bytes: bytes.subarray(4 + length) };
  } catch {
    throw new PayloadError("The trace is damaged: its header does not read.");
  }
}

/** Bytes of a column; throws PayloadError where there are none. */
function columnBytes(bytes, column) {
  if (!(column.at >= 0 && column.at + column.size <= bytes.length)) {
    throw new PayloadError("The trace is damaged: a column lies outside of it.");
  }
  return bytes.subarray(column.at, column.at + column.size);
}

/** The numbers of a column in an array of class `Into`; 64-bit ones come as BigInt64Array. */
function readColumn(bytes, column, Into = Float64Array) {
  const data = columnBytes(bytes, column);
  const words = FIXED[column.as];
  let values;
  if (column.as === "leb128") values = readLeb128(data, column.count, Into);
  else if (words) values = readFixed(data, column, words, Into);
  else throw new PayloadError(`The trace is damaged: no encoding is called ${column.as}.`);
  return column.zigzag ? unfold(values) : values;
}

const FIXED = {
  u8: Uint8Array,
  u16: Uint16Array,
  u32: Uint32Array,
  f32: Float32Array,
  f64: Float64Array,
  i64: BigInt64Array,
};

function readFixed(data, column, Words, Into) {
  if (data.length !== column.count * Words.BYTES_PER_ELEMENT) {
    throw new PayloadError("The trace is damaged: a column has another length than it says.");
  }
  const values = new Words(data.slice().buffer); // little-endian, as all machines with browsers
  return Words === BigInt64Array || Words === Into ? values : new Into(values);
}

/** Seven bits a byte, the least first; numbers below 2**53. */
function readLeb128(data, count, Into) {
  const values = new Into(count);
  const size = data.length;
  let at = 0;
  for (let i = 0; i < count; i++) {
    let byte = data[at++];
    let value = byte & 127;
    if (byte > 127) {
      let scale = 128;
      do {
        byte = data[at++];
        value += (byte & 127) * scale;
        scale *= 128;
      } while (byte > 127 && at < size);
    }
    values[i] = value;
  }
  if (at !== size) {
    throw new PayloadError("The trace is damaged: a column has another length than it says.");
  }
  return values;
}

/** Zigzag plus one, 0 where there is nothing: integers of both signs, NaN where nothing is. */
function unfold(values) {
  for (let i = 0; i < values.length; i++) {
    const folded = values[i] - 1;
    values[i] = folded < 0 ? NaN : folded % 2 ? -(folded + 1) / 2 : folded / 2;
  }
  return values;
}
