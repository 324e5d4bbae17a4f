import { formatImportedCatalog } from "../../core/catalog/records/format-catalog.ts";
import type { CatalogStore, RefreshState } from "../../core/catalog/refresh/catalog-store.ts";
import { parseRefreshState } from "../../core/catalog/refresh/parse-refresh-state.ts";
import { type ImportedCatalog, parseImportedCatalog } from "../../core/catalog/served/validate-catalog.ts";
import type { Postgres, SqlRunner } from "./client.ts";
import { requireKnown } from "./require-known.ts";
import { type KnownRevisions, Revision } from "./revision.ts";

/** The imported catalog and the state of its refreshes in PostgreSQL. */
export class PostgresCatalogStore implements CatalogStore {
  readonly location = "the catalog in the database";
  private readonly revision: Revision;
  /** The version that was read last. */
  private version = "";

  constructor(
    private readonly database: Postgres,
    revisions?: KnownRevisions,
  ) {
    this.revision = new Revision(database, "catalog", revisions);
  }

  /** While the database is unavailable, nothing can be said to have changed. */
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
    await this.revision.change(async (sql) => {
      await requireKnown(sql, "catalog", null, models);
      await writeDocument(sql, "catalog", text);
    });
  }

  async readRefreshState() {
    return parseRefreshState(await this.readDocument("refresh"));
  }

  async writeRefreshState(state: RefreshState) {
    await writeDocument(this.database, "refresh", JSON.stringify(state));
  }

  private async readDocument(name: DocumentName): Promise<string | null> {
    const [row] = await this.database.run<{ document: string }>(
      "SELECT document FROM catalog_documents WHERE name = $1",
      [name],
    );
    return row?.document ?? null;
  }
}

type DocumentName = "catalog" | "refresh";

async function writeDocument(sql: SqlRunner, name: DocumentName, document: string): Promise<void> {
  await sql.run(
    `INSERT INTO catalog_documents (name, document) VALUES ($1, $2)
     ON CONFLICT (name) DO UPDATE SET document = excluded.document`,
    [name, document],
  );
}
