import type { Database } from "bun:sqlite";
import type { UsageRecord } from "../../../core/usage/records/records.ts";

/** The table `generation_tags`, by which the generations of a tag are found. The caller begins and commits transactions. */
export class GenerationTags {
  private readonly insert;

  constructor(database: Database) {
    this.insert = database.query("INSERT OR IGNORE INTO generation_tags (tag, id) VALUES (?, ?)");
  }

  /** Adds the tags of a record. Tags of an earlier version of the record are kept. */
  add({ id, tags = [] }: UsageRecord): void {
    for (const tag of tags) this.insert.run(tag, id);
  }
}
