import type { Pattern } from "./find-patterns.ts";

/** An instruction of a compiled expression. */
interface Instruction {
  readonly op: number;
  /** The next instruction. */
  readonly out: number;
  /** The other next instruction of an alternative. */
  readonly arg: number;
  matchRune(rune: number): boolean;
}

/** The operations of instructions, numbered as in the library. */
const OP = {
  alt: 1,
  altMatch: 2,
  capture: 3,
  emptyWidth: 4,
  match: 6,
  nop: 7,
  anyRune: 10,
  anyRuneButNewline: 11,
};
const NEWLINE = 10;
const ASCII = 128;

/** The instructions that can be reached from an instruction without reading a character. */
interface Closure {
  /** The instructions that read a character. */
  readonly readers: readonly number[];
  readonly isMatch: boolean;
}

/** The program of an expression, for all texts. */
export class PatternProgram {
  readonly size: number;
  private readonly instructions: readonly Instruction[];
  private readonly closures: (Closure | undefined)[] = [];
  private readonly start: Closure;
  /** Whether a match can begin with an ASCII character. */
  private readonly begins: readonly boolean[];

  constructor(pattern: Pattern) {
    const { inst, start } = pattern.re2().prog as {
      readonly inst: readonly Instruction[];
      readonly start: number;
    };
    this.instructions = inst;
    this.size = inst.length;
    this.start = this.closureOf(start);
    this.begins = Array.from({ length: ASCII }, (_, rune) =>
      this.start.readers.some((pc) => this.reads(pc, rune)),
    );
  }

  /** Returns the instructions from which a match may begin with a character. */
  beginningsWith(rune: number): readonly number[] {
    return rune < ASCII && !this.begins[rune] ? NONE : this.start.readers;
  }

  reads(pc: number, rune: number): boolean {
    const instruction = this.instructions[pc] as Instruction;
    if (instruction.op === OP.anyRune) return true;
    if (instruction.op === OP.anyRuneButNewline) return rune !== NEWLINE;
    return instruction.matchRune(rune);
  }

  /** Returns the instructions after an instruction that has read a character. */
  after(pc: number): Closure {
    return this.closureOf((this.instructions[pc] as Instruction).out);
  }

  /** Treats conditions such as `\b` as met: at worst, threads without a match hold text back a little longer. */
  private closureOf(first: number): Closure {
    const known = this.closures[first];
    if (known !== undefined) return known;
    const readers: number[] = [];
    let isMatch = false;
    const seen = new Set([first]);
    for (const pc of seen) {
      const { op, out, arg } = this.instructions[pc] as Instruction;
      if (op === OP.match) isMatch = true;
      else if (op === OP.alt || op === OP.altMatch) seen.add(out).add(arg);
      else if (op === OP.capture || op === OP.emptyWidth || op === OP.nop) seen.add(out);
      else readers.push(pc);
    }
    const closure = { readers, isMatch };
    this.closures[first] = closure;
    return closure;
  }
}

const NONE: readonly number[] = [];

/** Instructions that wait for a character, each with the lowest position at which a match that contains it begins. */
class ThreadList {
  readonly pcs: number[] = [];
  private readonly starts: Float64Array;

  constructor(size: number) {
    this.starts = new Float64Array(size).fill(Number.POSITIVE_INFINITY);
  }

  startOf(pc: number): number {
    return this.starts[pc] as number;
  }

  add(pc: number, start: number): void {
    const before = this.startOf(pc);
    if (before === Number.POSITIVE_INFINITY) this.pcs.push(pc);
    if (start < before) this.starts[pc] = start;
  }

  clear(): void {
    for (const pc of this.pcs) this.starts[pc] = Number.POSITIVE_INFINITY;
    this.pcs.length = 0;
  }

  get lowest(): number {
    let lowest = Number.POSITIVE_INFINITY;
    for (const pc of this.pcs) lowest = Math.min(lowest, this.startOf(pc));
    return lowest;
  }

  /** Removes the threads that begin before a position. */
  drop(before: number): void {
    const kept = this.pcs.filter((pc) => this.startOf(pc) >= before);
    for (const pc of this.pcs) if (this.startOf(pc) < before) this.starts[pc] = Number.POSITIVE_INFINITY;
    this.pcs.length = 0;
    for (const pc of kept) this.pcs.push(pc);
  }
}

/**
 * Tracks the possible matches of one expression in a text, character by character. Takes at most as many steps for each character as the
 * expression has instructions.
 */
export class PatternThreads {
  /** The lowest position at which a completed match may begin. A search from there sets it to where the next may begin. */
  lowestMatch = Number.POSITIVE_INFINITY;
  private live: ThreadList;
  private next: ThreadList;
  /** The lowest start of a match that ends with the last character. The next character may extend or exclude it. */
  private endingNow = Number.POSITIVE_INFINITY;

  constructor(private readonly program: PatternProgram) {
    this.live = new ThreadList(program.size);
    this.next = new ThreadList(program.size);
  }

  /** Reads the character at a position. */
  step(rune: number, at: number): void {
    const { live, next, program } = this;
    for (const pc of program.beginningsWith(rune)) live.add(pc, at);
    this.endingNow = Number.POSITIVE_INFINITY;
    if (live.pcs.length === 0) return;
    for (const pc of live.pcs) {
      if (!program.reads(pc, rune)) continue;
      const start = live.startOf(pc);
      const { readers, isMatch } = program.after(pc);
      for (const reader of readers) next.add(reader, start);
      if (isMatch && start < this.endingNow) this.endingNow = start;
    }
    if (this.endingNow < this.lowestMatch) this.lowestMatch = this.endingNow;
    live.clear();
    this.live = next;
    this.next = live;
  }

  /** The lowest start of a match that further text may complete or change; infinite if there is none. */
  get lowestUndecided(): number {
    return Math.min(this.live.lowest, this.endingNow);
  }

  /** Gives up what begins before a position. */
  drop(before: number): void {
    this.live.drop(before);
    if (this.endingNow < before) this.endingNow = Number.POSITIVE_INFINITY;
  }
}
