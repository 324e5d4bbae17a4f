import type { Migration } from "./migration.ts";

/** The id of the Redis server that each gateway uses, by which a gateway that starts finds out that it has another one. */
export const redisIds: Migration = {
  name: "0019-redis-ids",
  oldestVersion: 1,
  sql: "ALTER TABLE gateways ADD COLUMN redis_id text",
};
