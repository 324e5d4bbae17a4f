/** Parts of OTLP in its JSON encoding. They are written as text, which costs half of building objects first. */

/** The value of an attribute. Null is left out. */
type AttributeValue = string | number | boolean | readonly string[] | null;

/** Attributes by their names. */
export type Attributes = Readonly<Record<string, AttributeValue>>;

/** Encodes attributes as the elements of an array, separated by commas. */
export function encodeAttributes(attributes: Attributes): string {
  let text = "";
  for (const key in attributes) {
    const value = attributes[key] as AttributeValue;
    if (value === null) continue;
    text += `${text === "" ? "" : ","}{"key":${JSON.stringify(key)},"value":${encodeValue(value)}}`;
  }
  return text;
}

function encodeValue(value: Exclude<AttributeValue, null>): string {
  switch (typeof value) {
    case "string":
      return `{"stringValue":${JSON.stringify(value)}}`;
    case "boolean":
      return `{"boolValue":${value}}`;
    case "number":
      return encodeNumber(value);
    default:
      return `{"arrayValue":{"values":[${value.map(encodeValue).join(",")}]}}`;
  }
}

/** Encodes the value of an attribute that is a number. Whole numbers are integers. */
export function encodeNumber(value: number): string {
  return Number.isInteger(value) ? `{"intValue":"${value}"}` : `{"doubleValue":${value}}`;
}

/** Encodes a time in nanoseconds from milliseconds since the epoch with fractions. Two integers of 32 bits are printed faster than one number of 64. */
export function encodeTime(ms: number): string {
  const seconds = Math.floor(Math.floor(ms) / 1_000);
  const nanoseconds = Math.floor((ms - seconds * 1_000) * 1e6);
  // The leading digit keeps the zeros, and is cut off.
  return `"${seconds}${String(1_000_000_000 + nanoseconds).slice(1)}"`;
}

/** Encodes a resource and the scope of everything that the gateway exports. */
export function encodeOrigin(resource: Readonly<Record<string, string>>, version: string) {
  return {
    resource: `{"attributes":[${encodeAttributes(resource)}]}`,
    scope: `{"name":"gateway","version":${JSON.stringify(version)}}`,
  };
}

/** The resource and scope of an export, encoded. */
export type EncodedOrigin = ReturnType<typeof encodeOrigin>;
