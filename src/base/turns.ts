/** A queue in which those who wait take turns: one who has queued much lets others go first. */
export interface Turns<T> {
  add(holder: string, item: T): void;
  /** The next in turn; null where none waits. */
  next(): T | null;
  count(): number;
}

/** An empty queue. Each step costs the same, however many wait. */
export function createTurns<T>(): Turns<T> {
  /** Only of holders that wait for something; the first of them is next. */
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
      // To the end of the line.
      if (queue.at < queue.items.length) queues.set(holder, queue);
      count--;
      return item;
    },
    count: () => count,
  };
}
