/** A position in a journal. Later entries have greater positions. */
export type JournalPosition = number;

/** An entry and its position. */
export interface JournalLine {
  readonly at: JournalPosition;
  readonly entry: string;
}

/** The text before and after the entries of a kind, so that no other string is created for each entry. */
export interface EntryFrame {
  readonly start: string;
  readonly end: string;
}

/** An append-only file of entries that the store does not have yet. Flushed entries survive the process, also after `kill -9`. */
export interface Journal {
  /**
   * Adds an entry, a text without line breaks, and returns its position. The next `flush` writes it to the file. With `frame`, the entry is
   * the text inside that frame.
   */
  append(text: string, frame?: EntryFrame): JournalPosition;
  /** Writes what was appended to the file. Cheap if there is nothing to write. */
  flush(): void;
  /**
   * Returns the entry at a position that `append` or `recover` returned and that was not released. Returns null if it is damaged, and moves
   * it to another file.
   * @throws Error if the journal cannot be read.
   */
  read(at: JournalPosition): string | null;
  /** Returns the size of the entries that were not released, including those of earlier processes. Bytes. */
  size(): number;
  /** Flushes, and returns the position behind everything that was appended so far. */
  mark(): JournalPosition;
  /** Drops everything before a position, because the store has it. */
  release(before: JournalPosition): void;
  /** Reads the entries that an earlier process left: first the skipped ones, then the others, oldest first. Leaves out an incomplete last line, and moves damaged lines to another file. */
  recover(): Iterable<JournalLine>;
  /** Replaces the skipped entries, which `release` keeps and `recover` returns again. */
  skipped(entries: readonly string[]): void;
  /** Flushes and closes. */
  close(): void;
}

/** Damaged lines of a journal file, stored unchanged. */
export interface DamagedLines {
  /** The file that contains them. */
  readonly file: string;
  readonly lines: number;
  /** The distinct ids of generations that can still be read in them. */
  readonly generations: readonly string[];
}
