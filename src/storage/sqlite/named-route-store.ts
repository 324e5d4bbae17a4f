import type { Database } from "bun:sqlite";
import {
  type NamedRouteRow,
  type NamedRouteStore,
  parseNamedRoute,
  type StoredRoute,
} from "../../core/named-routes/named-route-store.ts";
import { MAX_VERSIONS } from "../../core/named-routes/route-schema.ts";
import { Revision } from "./revision.ts";

/** Named routes in SQLite. Every change raises the revision in the same transaction. */
export class SqliteNamedRouteStore implements NamedRouteStore {
  private readonly revision: Revision;

  constructor(private readonly database: Database) {
    this.revision = new Revision(database, "named_route_revision");
  }

  async namedRouteRevision() {
    return this.revision.read();
  }

  async listNamedRoutes(accountId: string | null) {
    // SQLite takes the other columns from the row with the maximum.
    return this.read(
      `SELECT account_id, name, max(version) AS version, definition, created_at FROM named_routes
       WHERE account_id = ? GROUP BY name ORDER BY name`,
      accountId ?? "",
    );
  }

  async listNamedRouteVersions(accountId: string | null, name: string) {
    return this.read(
      "SELECT * FROM named_routes WHERE account_id = ? AND name = ? ORDER BY version DESC",
      accountId ?? "",
      name,
    );
  }

  async putNamedRoute(route: Omit<StoredRoute, "version">) {
    const { accountId, name, definition, updatedAt } = route;
    return this.change(() => {
      const row = this.database
        .query<{ version: number }, (string | number)[]>(INSERT)
        .get(accountId ?? "", name, JSON.stringify(definition), updatedAt, accountId ?? "", name);
      const version = row?.version as number;
      this.database.query(DELETE_OLD).run(accountId ?? "", name, version - MAX_VERSIONS);
      return { ...route, version };
    });
  }

  async deleteNamedRoute(accountId: string | null, name: string) {
    return this.change(() => this.database.query(DELETE).run(accountId ?? "", name)).changes > 0;
  }

  private read(text: string, ...values: string[]): readonly StoredRoute[] {
    const rows = this.database.query<NamedRouteRow, string[]>(text).all(...values);
    return rows.flatMap((row) => parseNamedRoute(row) ?? []);
  }

  private change<Result>(work: () => Result): Result {
    const change = this.database.transaction(() => {
      this.revision.raise();
      return work();
    });
    return change.immediate();
  }
}

const INSERT = `
  INSERT INTO named_routes (account_id, name, version, definition, created_at)
  SELECT ?, ?, coalesce(max(version), 0) + 1, ?, ? FROM named_routes WHERE account_id = ? AND name = ?
  RETURNING version`;
const DELETE = "DELETE FROM named_routes WHERE account_id = ? AND name = ?";
const DELETE_OLD = `${DELETE} AND version <= ?`;
