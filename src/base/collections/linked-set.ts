/** An object that can be in a `LinkedSet`, and in only one at a time. */
export abstract class Linked {
  /** The neighbours in the set; null at its ends and outside of it. Only the set uses them. */
  previousLinked: Linked | null = null;
  nextLinked: Linked | null = null;
}

/**
 * Objects that are in progress, in the order in which they were added. Use it instead of a `Set` for objects that come and go with
 * requests. A `Set` replaces its table from time to time and links each old table to the next one. Through its first old table, a
 * collection of young objects then reaches most objects that were ever in the set, and keeps them. An object that was removed from this set
 * has no references to other objects, and no other object refers to it.
 */
export class LinkedSet<Item extends Linked> implements Iterable<Item> {
  private head: Linked | null = null;
  private tail: Linked | null = null;
  private count = 0;

  get size(): number {
    return this.count;
  }

  /** The object that was added before all others; null if the set is empty. */
  get first(): Item | null {
    return this.head as Item | null;
  }

  /** Adds an object that is in no set. */
  add(item: Item): void {
    item.previousLinked = this.tail;
    if (this.tail === null) this.head = item;
    else this.tail.nextLinked = item;
    this.tail = item;
    this.count += 1;
  }

  /** Removes an object that is in no other set. Returns whether it was in this one. */
  delete(item: Item): boolean {
    const { previousLinked: previous, nextLinked: next } = item;
    if (previous === null && this.head !== item) return false;
    if (previous === null) this.head = next;
    else previous.nextLinked = next;
    if (next === null) this.tail = previous;
    else next.previousLinked = previous;
    item.previousLinked = null;
    item.nextLinked = null;
    this.count -= 1;
    return true;
  }

  /** Lists the objects that are in the set when the iteration begins. */
  [Symbol.iterator](): Iterator<Item> {
    const items: Item[] = [];
    for (let item = this.head; item !== null; item = item.nextLinked) items.push(item as Item);
    return items.values();
  }
}
