import type { Database } from "bun:sqlite";

/** The number of pages that one step gives back: few, because saved groups wait for it. */
const STEP = 500;
/** The share of free pages that stays in the file for new records: a twentieth. */
const SHARE = 20;

/** The empty pages of a database. */
export class FreePages {
  private readonly size;
  private readonly free;
  private readonly mode;
  private readonly shrink;

  constructor(database: Database) {
    this.size = database.query<{ page_count: number }, []>("PRAGMA page_count");
    this.free = database.query<{ freelist_count: number }, []>("PRAGMA freelist_count");
    this.mode = database.query<{ auto_vacuum: number }, []>("PRAGMA auto_vacuum");
    this.shrink = database.query(`PRAGMA incremental_vacuum(${STEP})`);
  }

  /**
   * Shortens the file by some pages if more than a twentieth of it is free. Returns whether there are more. No-op for a file that an
   * earlier version has created, which `gateway storage compact` converts.
   */
  giveBack(): boolean {
    if (this.mode.get()?.auto_vacuum !== INCREMENTAL || !this.hasMany()) return false;
    this.shrink.all();
    return this.hasMany();
  }

  private hasMany(): boolean {
    const free = this.free.get()?.freelist_count ?? 0;
    return free > STEP && free * SHARE > (this.size.get()?.page_count ?? 0);
  }
}

const INCREMENTAL = 2;
