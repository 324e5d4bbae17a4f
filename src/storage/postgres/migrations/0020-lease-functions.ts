import type { Migration } from "./migration.ts";

/**
 * Database functions for borrowing and giving back, so that each takes one statement: a round trip takes longer than all of its work. They
 * do the same as `decideBorrow` and `lowerLeases`, and lock in the order of every transaction: the gateway, the balance, limits by name,
 * leases.
 */
export const leaseFunctions: Migration = {
  name: "0020-lease-functions",
  oldestVersion: 1,
  sql: `
  CREATE FUNCTION choose_loan(least_amount bigint, expected bigint, most bigint, available bigint)
  RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN wanted <= available THEN wanted ELSE greatest(least_amount, available / 2) END
    FROM (SELECT least(most, greatest(expected, available / 8)) AS wanted) AS chosen
  $$;

  CREATE FUNCTION decide_loan(least_amount bigint, expected bigint, most bigint, ahead bigint, has_left bigint)
  RETURNS bigint LANGUAGE plpgsql IMMUTABLE AS $$
    DECLARE
      available bigint := greatest(0, has_left);
      taken bigint;
    BEGIN
      IF has_left < least_amount AND least_amount > 0 THEN RETURN NULL; END IF;
      taken := choose_loan(least_amount, expected, most, available);
      IF taken < expected THEN RETURN greatest(taken, (available + 1) / 2); END IF;
      RETURN taken + greatest(0, least(ahead, floor((has_left - taken) / 16.0)::bigint));
    END
  $$;

  -- Returns what is to be done by the caller ('replaced', 'late', 'unbegun'), or 'done' with the answer.
  CREATE FUNCTION borrow_leases(
    gateway text, gateway_epoch bigint, account text, order_ticket bigint, requests jsonb,
    OUT outcome text, OUT answer text
  ) LANGUAGE plpgsql AS $$
    DECLARE
      own_ticket bigint;
      own_answer text;
      total integer := jsonb_array_length(requests);
      limits integer;
      lefts bigint[] := '{}';
      others bigint[] := '{}';
      loans bigint[] := '{}';
      request jsonb;
      has bigint;
      lent_already bigint;
      own bigint;
      loan bigint;
      is_lent boolean := true;
      could_cover boolean := true;
    BEGIN
      PERFORM FROM gateways WHERE id = gateway AND epoch = gateway_epoch FOR SHARE;
      IF NOT FOUND THEN outcome := 'replaced'; RETURN; END IF;
      PERFORM FROM balances WHERE account_id = account FOR UPDATE;
      IF NOT FOUND THEN
        INSERT INTO balances (account_id) VALUES (account) ON CONFLICT DO NOTHING;
        PERFORM FROM balances WHERE account_id = account FOR UPDATE;
      END IF;
      SELECT count(*) INTO limits FROM (
        SELECT FROM spending s JOIN jsonb_array_elements(requests) AS r
          ON s.meter = r->>'meter' AND s.since = (r->>'since')::integer
        ORDER BY s.meter, s.since FOR UPDATE OF s
      ) AS locked;
      SELECT ticket, l.answer INTO own_ticket, own_answer FROM balance_leases l
        WHERE account_id = account AND gateway_id = gateway;
      IF own_ticket >= order_ticket THEN
        outcome := CASE WHEN own_ticket = order_ticket AND own_answer IS NOT NULL THEN 'done' ELSE 'late' END;
        answer := own_answer;
        RETURN;
      END IF;
      IF limits < (SELECT count(*) FROM jsonb_array_elements(requests) AS r WHERE r->>'meter' IS NOT NULL) THEN
        outcome := 'unbegun'; RETURN;
      END IF;
      FOR request IN SELECT value FROM jsonb_array_elements(requests) LOOP
        IF request->>'meter' IS NULL THEN
          SELECT amount + (request->>'bound')::bigint, leased INTO has, lent_already
            FROM balances WHERE account_id = account;
          SELECT coalesce((SELECT amount FROM balance_leases WHERE account_id = account AND gateway_id = gateway), 0)
            INTO own;
        ELSE
          SELECT (request->>'bound')::bigint - spent, leased INTO has, lent_already
            FROM spending WHERE meter = request->>'meter' AND since = (request->>'since')::integer;
          SELECT coalesce((SELECT amount FROM spending_leases WHERE meter = request->>'meter'
            AND since = (request->>'since')::integer AND gateway_id = gateway), 0) INTO own;
        END IF;
        loan := decide_loan((request->>'least')::bigint, (request->>'amount')::bigint, (request->>'most')::bigint,
          (request->>'ahead')::bigint, has - lent_already);
        IF loan IS NULL THEN is_lent := false; END IF;
        IF has - own < (request->>'least')::bigint THEN could_cover := false; END IF;
        lefts := lefts || (has - lent_already);
        others := others || (lent_already - own);
        loans := array_append(loans, loan);
      END LOOP;
      answer := jsonb_build_object('isLent', is_lent, 'leases', (
        SELECT coalesce(jsonb_agg(jsonb_build_object(
          'lent', CASE WHEN is_lent THEN loans[n] ELSE 0 END,
          'left', lefts[n] - CASE WHEN is_lent THEN loans[n] ELSE 0 END,
          'others', others[n]) ORDER BY n), '[]'::jsonb)
        FROM generate_series(1, total) AS n))::text;
      IF is_lent THEN
        UPDATE spending s SET leased = s.leased + loans[r.n] FROM jsonb_array_elements(requests)
          WITH ORDINALITY AS r (request, n)
          WHERE s.meter = r.request->>'meter' AND s.since = (r.request->>'since')::integer AND loans[r.n] > 0;
        UPDATE balances SET leased = leased + loans[r.n] FROM jsonb_array_elements(requests)
          WITH ORDINALITY AS r (request, n)
          WHERE account_id = account AND r.request->>'meter' IS NULL AND loans[r.n] > 0;
        INSERT INTO spending_leases AS known (meter, since, gateway_id, account_id, amount)
          SELECT r.request->>'meter', (r.request->>'since')::integer, gateway, account, loans[r.n]
          FROM jsonb_array_elements(requests) WITH ORDINALITY AS r (request, n)
          WHERE r.request->>'meter' IS NOT NULL AND loans[r.n] > 0
          ON CONFLICT (meter, since, gateway_id) DO UPDATE SET amount = known.amount + excluded.amount;
      END IF;
      INSERT INTO balance_leases AS known (account_id, gateway_id, amount, ticket, answer)
        SELECT account, gateway, coalesce(sum(loans[r.n]) FILTER (WHERE is_lent), 0)::bigint, order_ticket,
          borrow_leases.answer
        FROM jsonb_array_elements(requests) WITH ORDINALITY AS r (request, n) WHERE r.request->>'meter' IS NULL
        ON CONFLICT (account_id, gateway_id) DO UPDATE SET
          amount = known.amount + excluded.amount, ticket = excluded.ticket, answer = excluded.answer;
      IF NOT is_lent AND could_cover THEN
        -- A trigger announces it: gateways that listen give back at once, the others with their next reading.
        INSERT INTO wanted_leases (account_id, gateway_id, wanted_at) VALUES (account, gateway, clock_timestamp())
          ON CONFLICT (account_id, gateway_id) DO UPDATE SET wanted_at = excluded.wanted_at;
      END IF;
      outcome := 'done';
    END
  $$;

  -- Returns 'replaced', or 'done' also if the order was carried out before.
  CREATE FUNCTION return_leases(
    gateway text, gateway_epoch bigint, account text, order_ticket bigint, returned jsonb, OUT outcome text
  ) LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM FROM gateways WHERE id = gateway AND epoch = gateway_epoch FOR SHARE;
      IF NOT FOUND THEN outcome := 'replaced'; RETURN; END IF;
      outcome := 'done';
      PERFORM FROM balances WHERE account_id = account FOR UPDATE;
      PERFORM FROM spending s JOIN jsonb_array_elements(returned) AS r
        ON s.meter = r->>'meter' AND s.since = (r->>'since')::integer
        ORDER BY s.meter, s.since FOR UPDATE OF s;
      PERFORM FROM balance_leases WHERE account_id = account AND gateway_id = gateway AND ticket >= order_ticket;
      IF FOUND THEN RETURN; END IF;
      WITH covered AS (
        SELECT l.meter, l.since, least(l.amount, (r->>'amount')::bigint) AS amount
        FROM spending_leases l JOIN jsonb_array_elements(returned) AS r
          ON l.meter = r->>'meter' AND l.since = (r->>'since')::integer
        WHERE l.gateway_id = gateway FOR UPDATE OF l
      ), lowered AS (
        UPDATE spending_leases l SET amount = l.amount - covered.amount FROM covered
        WHERE l.meter = covered.meter AND l.since = covered.since AND l.gateway_id = gateway
      )
      UPDATE spending s SET leased = s.leased - covered.amount FROM covered
        WHERE s.meter = covered.meter AND s.since = covered.since;
      WITH covered AS (
        SELECT least(l.amount, (r->>'amount')::bigint) AS amount
        FROM balance_leases l, jsonb_array_elements(returned) AS r
        WHERE l.account_id = account AND l.gateway_id = gateway AND r->>'meter' IS NULL FOR UPDATE OF l
      ), lowered AS (
        UPDATE balance_leases l SET amount = l.amount - covered.amount FROM covered
        WHERE l.account_id = account AND l.gateway_id = gateway
      )
      UPDATE balances SET leased = leased - covered.amount FROM covered WHERE account_id = account;
      UPDATE balance_leases SET ticket = order_ticket, answer = NULL
        WHERE account_id = account AND gateway_id = gateway;
    END
  $$;
  `,
};
