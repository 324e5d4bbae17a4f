import type { Migration } from "./migration.ts";

/** The outcomes of attempts at providers, and their incidents. Gateways of earlier versions add nothing to them. */
export const healthHistory: Migration = {
  name: "0024-health-history",
  oldestVersion: 1,
  sql: `
  -- Sums of all gateways. Each attempt counts once in each span, whose buckets differ in length.
  CREATE TABLE provider_outcomes (
    provider text COLLATE "C" NOT NULL,
    span text COLLATE "C" NOT NULL,
    began_at bigint NOT NULL,
    succeeded bigint NOT NULL,
    failed bigint NOT NULL,
    rate_limited bigint NOT NULL,
    key_refused bigint NOT NULL,
    PRIMARY KEY (provider, span, began_at)
  );

  CREATE TABLE provider_incidents (
    id text COLLATE "C" PRIMARY KEY,
    provider text COLLATE "C" NOT NULL,
    level text NOT NULL,
    models text NOT NULL,
    began_at bigint NOT NULL,
    -- NULL while it lasts.
    ended_at bigint,
    end_reason text,
    seen_at bigint NOT NULL,
    -- The gateways that see it, with the time of their last report.
    observers text NOT NULL,
    failures text NOT NULL,
    sample text,
    failed_attempts bigint NOT NULL,
    saved_requests bigint NOT NULL,
    failed_requests bigint NOT NULL
  );
  CREATE INDEX provider_incidents_provider ON provider_incidents (provider, id);
  CREATE UNIQUE INDEX provider_incidents_open ON provider_incidents (provider) WHERE ended_at IS NULL;
  `,
};
