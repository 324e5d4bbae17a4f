/** Parts of OTLP in its JSON encoding. They are written as text, which costs half of building objects first. */

/** The value of an attribute. Null is left out. */
export type AttributeValue = string | number | boolean | readonly string[] | null;

/** Encodes attributes. Whole numbers are integers. */
export function encodeAttributes(attributes: Readonly<Record<string, AttributeValue>>): string {
  let text = "";
  for (const key in attributes) {
    const value = attributes[key] as AttributeValue;
    if (value === null) continue;
    text += `${text === "" ? "" : ","}{"key":"${key}","value":${encodeValue(value)}}`;
  }
  return `[${text}]`;
}

function encodeValue(value: Exclude<AttributeValue, null>): string {
  switch (typeof value) {
    case "string":
      return `{"stringValue":${encodeString(value)}}`;
    case "boolean":
      return `{"boolValue":${value}}`;
    case "number":
      return Number.isInteger(value) ? `{"intValue":"${value}"}` : `{"doubleValue":${value}}`;
    default:
      return `{"arrayValue":{"values":[${value.map(encodeValue).join(",")}]}}`;
  }
}

/** Names and ids have only such characters, so that they need no escaping: checking that costs a third of encoding. */
const PLAIN = /^[\w ./:@-]*$/;

/** Encodes a text. */
export function encodeString(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text);
}

/** Encodes a time in nanoseconds from milliseconds since the epoch with fractions. */
export function encodeTime(ms: number): string {
  const whole = Math.floor(ms);
  return `"${whole}${Math.floor((ms - whole) * 1e6)
    .toString()
    .padStart(6, "0")}"`;
}

/** Encodes a resource and the scope of everything that the gateway exports. */
export function encodeOrigin(resource: Readonly<Record<string, string>>, version: string) {
  const attributes = Object.entries(resource).map(
    ([key, value]) => `{"key":${JSON.stringify(key)},"value":${encodeValue(value)}}`,
  );
  return {
    resource: `{"attributes":[${attributes.join(",")}]}`,
    scope: `{"name":"gateway","version":${JSON.stringify(version)}}`,
  };
}

/** The resource and scope of an export, encoded. */
export type EncodedOrigin = ReturnType<typeof encodeOrigin>;
