import {
  type NamedRouteRow,
  type NamedRouteStore,
  parseNamedRoute,
  type StoredRoute,
} from "../../core/named-routes/named-route-store.ts";
import { MAX_VERSIONS } from "../../core/named-routes/route-schema.ts";
import type { Postgres } from "./client.ts";
import { requireKnown } from "./require-known.ts";
import { type KnownRevisions, Revision } from "./revision.ts";
import { readInteger } from "./values.ts";

/** Named routes in PostgreSQL. Every change raises the revision in the same transaction. */
export class PostgresNamedRouteStore implements NamedRouteStore {
  private readonly revision: Revision;

  constructor(
    private readonly database: Postgres,
    revisions?: KnownRevisions,
  ) {
    this.revision = new Revision(database, "named_routes", revisions);
  }

  namedRouteRevision() {
    return this.revision.read();
  }

  listChangedRoutes(cursor: string | null) {
    return this.revision.listChanged(cursor);
  }

  async listNamedRoutes(accountId: string | null) {
    const rows = await this.database.run<NamedRouteRow>(
      `SELECT DISTINCT ON (name) * FROM named_routes WHERE account_id = $1 ORDER BY name, version DESC`,
      [accountId ?? ""],
    );
    return rows.flatMap((row) => parseNamedRoute(row) ?? []);
  }

  async listNamedRouteVersions(accountId: string | null, name: string) {
    const rows = await this.database.run<NamedRouteRow>(
      "SELECT * FROM named_routes WHERE account_id = $1 AND name = $2 ORDER BY version DESC",
      [accountId ?? "", name],
    );
    return rows.flatMap((row) => parseNamedRoute(row) ?? []);
  }

  putNamedRoute(route: Omit<StoredRoute, "version">) {
    const { accountId, name, definition, updatedAt } = route;
    return this.revision.change(async (sql) => {
      await requireKnown(sql, "named route", null, definition);
      const [row] = await sql.run<{ version: string }>(
        `INSERT INTO named_routes (account_id, name, version, definition, created_at)
         SELECT $1::text, $2::text, coalesce(max(version), 0) + 1, $3::text, $4::bigint
         FROM named_routes WHERE account_id = $1 AND name = $2
         RETURNING version`,
        [accountId ?? "", name, JSON.stringify(definition), updatedAt],
      );
      const version = readInteger(row?.version ?? "");
      await sql.run(
        "DELETE FROM named_routes WHERE account_id = $1 AND name = $2 AND version <= $3::bigint",
        [accountId ?? "", name, version - MAX_VERSIONS],
      );
      return { ...route, version };
    });
  }

  deleteNamedRoute(accountId: string | null, name: string) {
    const isDeleted = async (sql: Pick<Postgres, "run">) => {
      const rows = await sql.run(
        "DELETE FROM named_routes WHERE account_id = $1 AND name = $2 RETURNING version",
        [accountId ?? "", name],
      );
      return rows.length > 0;
    };
    return this.revision.change(isDeleted, (wasThere) => wasThere);
  }
}
