import type { Database } from "bun:sqlite";
import type { StepReport } from "../../core/usage/records/retention.ts";
import { JOIN_PREVIOUS } from "../sql/response-objects/find-objects.ts";
import { SqlResponseStore } from "../sql/response-objects/response-store.ts";
import { FreePages } from "./connection/free-pages.ts";
import { createSqliteDatabase } from "./connection/sql-database.ts";

/** Response objects in `responses.db`. */
export class SqliteResponseStore extends SqlResponseStore {
  protected readonly joinPrevious = JOIN_PREVIOUS.plain;
  private readonly freePages: FreePages;

  constructor(connection: Database) {
    super(createSqliteDatabase(connection));
    this.freePages = new FreePages(connection);
  }

  async releaseSpace(): Promise<StepReport> {
    return { hasMore: this.freePages.giveBack() };
  }
}
