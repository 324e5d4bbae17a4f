type Fields = Readonly<Record<string, unknown>>;

/** The fields of a resource that a request has set, with their values before and after it. No secrets. */
export interface ChangeOfFields {
  readonly before: Fields;
  readonly after: Fields;
  readonly [field: string]: unknown;
}

/** Returns what a request has changed, as the audit log records it. `before` and `after` are the resource as responses show it. */
export function describeChange(body: Fields, before: Fields, after: Fields): ChangeOfFields {
  return { before: pickFields(before, body), after: pickFields(after, body) };
}

/** Returns the fields of a resource that a body has, also within objects. */
function pickFields(resource: Fields, body: Fields): Fields {
  const names = Object.keys(body).filter((name) => body[name] !== undefined);
  return Object.fromEntries(
    names.map((name) => {
      const [value, part] = [resource[name] ?? null, body[name]];
      return [name, isFields(value) && isFields(part) ? pickFields(value, part) : value];
    }),
  );
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
