/** Up to this number of names, an object's names are compared with each other; more are looked up. */
const FEW = 24;
const BACKSLASH = 92;

/**
 * Finds members that occur twice in one object of a JSON text. Keeps the member names of all open objects. Names that differ only in their
 * escapes are equal. Takes time linear in the names.
 */
export class UniqueNames {
  /** The names of all open objects, the innermost last: where each stands, and a hash of it. */
  private readonly starts: number[] = [];
  private readonly ends: number[] = [];
  private readonly hashes: number[] = [];
  private count = 0;
  /** For each open object, where its names begin in these lists. */
  private readonly firsts: number[] = [];
  /** The sets of names of open objects with many names, by nesting depth. Null until an object has many names. */
  private large: Map<number, Set<string>> | null = null;

  /** `decode` returns the name from `start` to `end` (quotes included) with its escapes decoded, in the text's encoding. */
  constructor(
    private readonly text: string,
    private readonly decode: (text: string, start: number, end: number) => string,
  ) {}

  /** Enters an object. */
  open(): void {
    this.firsts.push(this.count);
  }

  /** Leaves the innermost object. */
  close(): void {
    const depth = this.firsts.length;
    const first = this.firsts.pop() ?? 0;
    if (this.count - first > FEW) this.large?.delete(depth);
    this.count = first;
  }

  /** Adds the name at `start` to `end`, quotes included, to the innermost object. Returns false if the object has it already. */
  add(start: number, end: number): boolean {
    const first = this.firsts[this.firsts.length - 1] ?? 0;
    const hash = this.hash(start, end);
    const isNew =
      this.count - first < FEW ? this.isNew(first, hash, start, end) : this.isNewOfMany(first, start, end);
    this.starts[this.count] = start;
    this.ends[this.count] = end;
    this.hashes[this.count] = hash;
    this.count++;
    return isNew;
  }

  private isNew(first: number, hash: number, start: number, end: number): boolean {
    for (let at = first; at < this.count; at++)
      if (this.hashes[at] === hash && this.nameOf(at) === this.nameAt(start, end)) return false;
    return true;
  }

  /** Looks up a name in the set of an object with many names. Creates the set on first use. */
  private isNewOfMany(first: number, start: number, end: number): boolean {
    const depth = this.firsts.length;
    this.large ??= new Map();
    let names = this.large.get(depth);
    if (names === undefined) {
      names = new Set();
      for (let at = first; at < this.count; at++) names.add(this.nameOf(at));
      this.large.set(depth, names);
    }
    const { size } = names.add(this.nameAt(start, end));
    return size > this.count - first;
  }

  private hash(start: number, end: number): number {
    const { text } = this;
    let hash = 0;
    for (let at = start + 1; at < end - 1; at++) {
      const code = text.charCodeAt(at);
      if (code === BACKSLASH) return hashOf(this.nameAt(start, end));
      hash = (Math.imul(hash, 31) + code) | 0;
    }
    return hash;
  }

  private nameOf(at: number): string {
    return this.nameAt(this.starts[at] as number, this.ends[at] as number);
  }

  private nameAt(start: number, end: number): string {
    const inner = this.text.slice(start + 1, end - 1);
    return inner.includes("\\") ? this.decode(this.text, start, end) : inner;
  }
}

function hashOf(name: string): number {
  let hash = 0;
  for (let at = 0; at < name.length; at++) hash = (Math.imul(hash, 31) + name.charCodeAt(at)) | 0;
  return hash;
}
