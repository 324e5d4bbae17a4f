/** A queue whose holders take turns: a holder with many items does not delay the items of others. */
interface Turns<T> {
  add(holder: string, item: T): void;
  /** Removes and returns the next item; null if the queue is empty. */
  next(): T | null;
  /** Returns the number of items. */
  count(): number;
}

/** Creates an empty queue. All operations take constant time. */
export function createTurns<T>(): Turns<T> {
  /** The queues of holders that have items; the first holder is next. */
  const queues = new Map<string, { readonly items: T[]; at: number }>();
  let count = 0;
  return {
    add(holder, item) {
      const queue = queues.get(holder);
      if (queue === undefined) queues.set(holder, { items: [item], at: 0 });
      else queue.items.push(item);
      count++;
    },
    next() {
      const [first] = queues;
      if (first === undefined) return null;
      const [holder, queue] = first;
      const item = queue.items[queue.at++] as T;
      queues.delete(holder);
      // The holder becomes the last one.
      if (queue.at < queue.items.length) queues.set(holder, queue);
      count--;
      return item;
    },
    count: () => count,
  };
}
