import { formatImportedCatalog } from "../../core/catalog/records/format-catalog.ts";
import type { CatalogStore, RefreshState } from "../../core/catalog/refresh/catalog-store.ts";
import { parseRefreshState } from "../../core/catalog/refresh/parse-refresh-state.ts";
import { type ImportedCatalog, parseImportedCatalog } from "../../core/catalog/served/validate-catalog.ts";
import type { SqlDatabase } from "../sql/statements/database.ts";
import { requireKnown } from "../sql/statements/require-known.ts";
import { Revision } from "../sql/statements/revision.ts";
import { type Sql, sql } from "../sql/statements/statement.ts";

/** The imported catalog and the state of its refreshes in PostgreSQL. */
export class PostgresCatalogStore implements CatalogStore {
  readonly location = "the catalog in the database";
  private readonly revision: Revision;
  /** The version that was read last. */
  private version = "";

  constructor(private readonly database: SqlDatabase) {
    this.revision = new Revision(database, "catalog");
  }

  /** While the database is unavailable, the version counts as unchanged. */
  async readVersion() {
    try {
      this.version = String(await this.revision.read());
    } catch {
      // The version stays.
    }
    return this.version;
  }

  async readCatalog() {
    try {
      const text = await this.readDocument("catalog");
      return text === null ? null : parseImportedCatalog(this.location, text);
    } catch (error) {
      return {
        value: null,
        problems: [`${this.location} cannot be read: ${(error as Error).message}`] as string[],
      };
    }
  }

  async writeCatalog({ source, models }: ImportedCatalog) {
    const text = formatImportedCatalog(source, models);
    const { traits } = this.database;
    await this.revision.change(function* () {
      yield* requireKnown(traits, "catalog", null, models);
      yield* writeDocument("catalog", text);
    });
  }

  async readRefreshState() {
    return parseRefreshState(await this.readDocument("refresh"));
  }

  async writeRefreshState(state: RefreshState) {
    await this.database.run(writeDocument("refresh", JSON.stringify(state)));
  }

  private async readDocument(name: DocumentName): Promise<string | null> {
    const [row] = await this.database.run(
      sql<{ document: string }>`SELECT document FROM catalog_documents WHERE name = ${name}`,
    );
    return row?.document ?? null;
  }
}

type DocumentName = "catalog" | "refresh";

function writeDocument(name: DocumentName, document: string): Sql {
  return sql`INSERT INTO catalog_documents (name, document) VALUES (${name}, ${document})
    ON CONFLICT (name) DO UPDATE SET document = excluded.document`;
}
