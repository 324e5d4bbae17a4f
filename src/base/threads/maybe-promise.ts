/**
 * A value that is there already, or a promise of it. What a request usually finds in memory has this type: waiting for a value that
 * is there costs several objects and a turn of the microtask queue, at each of the many steps of a request.
 */
export type MaybePromise<T> = T | Promise<T>;

/** Calls `next` with a value: at once if it is there, else once its promise resolves. A rejection is passed on. */
export function chain<T, R>(value: MaybePromise<T>, next: (value: T) => MaybePromise<R>): MaybePromise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/**
 * Calls `next` like `chain`, with what it needs besides the value. A function that uses variables of its caller would be created, together
 * with a scope for these variables, at every call of the caller, also where the value is there already.
 */
export function chainWith<T, Context, R>(
  value: MaybePromise<T>,
  context: Context,
  next: (value: T, context: Context) => MaybePromise<R>,
): MaybePromise<R> {
  return value instanceof Promise ? chainLater(value, context, next) : next(value, context);
}

async function chainLater<T, Context, R>(
  value: Promise<T>,
  context: Context,
  next: (value: T, context: Context) => MaybePromise<R>,
): Promise<R> {
  return next(await value, context);
}
