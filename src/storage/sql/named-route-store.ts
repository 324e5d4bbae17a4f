import {
  type NamedRouteRow,
  type NamedRouteStore,
  parseNamedRoute,
  type StoredRoute,
} from "../../core/named-routes/named-route-store.ts";
import { isPattern } from "../../core/named-routes/named-routes.ts";
import { MAX_VERSIONS } from "../../core/named-routes/route-schema.ts";
import type { SqlDatabase, SqlTraits } from "./statements/database.ts";
import { requireKnown } from "./statements/require-known.ts";
import { Revision } from "./statements/revision.ts";
import { type Sql, sql, type Work } from "./statements/statement.ts";
import { type Integer, readInteger } from "./statements/values.ts";

/** Named routes. Every change raises the revision in the same transaction. */
export class SqlNamedRouteStore implements NamedRouteStore {
  private readonly revision: Revision;

  constructor(private readonly database: SqlDatabase) {
    this.revision = new Revision(database, "named_routes");
  }

  namedRouteRevision() {
    return this.revision.read();
  }

  listChangedRoutes(cursor: string | null) {
    return this.revision.listChanged(cursor);
  }

  listNamedRoutes(accountId: string | null) {
    return this.read(
      sql`SELECT * FROM named_routes AS route WHERE account_id = ${accountId ?? ""} AND version =
          (SELECT max(version) FROM named_routes WHERE account_id = route.account_id AND name = route.name)
        ORDER BY name`,
    );
  }

  listNamedRouteVersions(accountId: string | null, name: string) {
    return this.read(
      sql`SELECT * FROM named_routes WHERE account_id = ${accountId ?? ""} AND name = ${name}
        ORDER BY version DESC`,
    );
  }

  putNamedRoute(route: Omit<StoredRoute, "version">) {
    return this.revision.change(() => putRoute(this.database.traits, route));
  }

  deleteNamedRoute(accountId: string | null, name: string) {
    return this.revision.change(
      () => deleteRoute(accountId, name),
      (wasThere) => wasThere,
    );
  }

  private async read(statement: Sql): Promise<readonly StoredRoute[]> {
    const rows = await this.database.run(statement as Sql<NamedRouteRow>);
    return rows.flatMap((row) => parseNamedRoute(row) ?? []);
  }
}

function* putRoute(traits: SqlTraits, route: Omit<StoredRoute, "version">): Work<StoredRoute> {
  const { name, definition, updatedAt } = route;
  const accountId = route.accountId ?? "";
  const pattern = isPattern(name) ? name : null;
  yield* requireKnown(traits, "named route", null, { ...definition, pattern });
  const [row] = yield* sql<{ version: Integer }>`
    INSERT INTO named_routes (account_id, name, version, definition, created_at)
    SELECT ${accountId}::text, ${name}::text, coalesce(max(version), 0) + 1, ${JSON.stringify(definition)}::text,
      ${updatedAt}::bigint
    FROM named_routes WHERE account_id = ${accountId} AND name = ${name} RETURNING version`;
  const version = readInteger(row?.version ?? "");
  yield* sql`DELETE FROM named_routes
    WHERE account_id = ${accountId} AND name = ${name} AND version <= ${version - MAX_VERSIONS}::bigint`;
  return { ...route, version };
}

function* deleteRoute(accountId: string | null, name: string): Work<boolean> {
  const rows = yield* sql`DELETE FROM named_routes
    WHERE account_id = ${accountId ?? ""} AND name = ${name} RETURNING version`;
  return rows.length > 0;
}
