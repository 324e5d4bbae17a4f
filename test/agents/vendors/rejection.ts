/** A vendor's rejection, rendered by its format. Thrown while a request is read. */
export class Rejection extends Error {
  readonly status: number;
  /** The invalid field, if the format names one. */
  readonly field: string | null;

  constructor(message: string, field: string | null = null, status = 400) {
    super(message);
    this.status = status;
    this.field = field;
  }
}

/**
 * Rejects the request.
 * @throws Rejection always.
 */
export function reject(message: string, field: string | null = null): never {
  throw new Rejection(message, field);
}
