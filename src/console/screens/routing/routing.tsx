import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { NamedRoute, Tier } from "../../api/schema.ts";
import { AccountPicker } from "../../parts/controls/account-picker.tsx";
import { Button } from "../../parts/controls/button.tsx";
import { Page } from "../../parts/layout/page.tsx";
import { ErrorBox, Skeleton } from "../../parts/layout/states.tsx";
import { Badge } from "../../parts/values/badge.tsx";
import { useLoad } from "../../state/load.ts";
import { query, setQuery } from "../../state/location.ts";
import { can, isOperator } from "../../state/session.ts";
import { text } from "../../text/text.ts";
import { Explain } from "./explain.tsx";
import { RouteEditor } from "./route-editor.tsx";
import { TierEditor } from "./tier-editor.tsx";
import { printSource } from "./tier-form.ts";

const NEW = "new";

/** The lists of tiers and named routes with an editor, for those who may inspect the account. Others see only how a request would be routed. */
export default function Routing() {
  const [account, setAccount] = useState<string | null>(query.value["account"] ?? null);
  const tiers = useLoad(isOperator.value ? "tiers" : null, async (signal) => {
    return (await call("GET /api/admin/tiers", { signal })).data;
  });
  const routes = useLoad(can("inspect") ? `routes ${account ?? ""}` : null, async (signal) => {
    const ofAccount = account === null ? {} : { query: { account_id: account } };
    return (await call("GET /api/admin/named-routes", { ...ofAccount, signal })).data;
  });
  const error = tiers.error ?? routes.error;
  if (!can("inspect"))
    return (
      <Page title={text.routing.title}>
        <Explain tried={null} />
      </Page>
    );
  return (
    <Page title={text.routing.title} actions={can("manage") ? <NewButtons /> : null}>
      {error === null ? null : (
        <ErrorBox error={error} onRetry={tiers.error === null ? routes.reload : tiers.reload} />
      )}
      <div class="routing">
        <div class="stack">
          {isOperator.value ? (
            tiers.data === null ? (
              <Skeleton lines={4} />
            ) : (
              <TierList tiers={tiers.data} />
            )
          ) : null}
          {isOperator.value ? (
            <AccountPicker
              label={text.routing.ownerOfRoutes}
              value={account}
              onChange={setAccount}
              showsLabel
            />
          ) : null}
          {routes.data === null ? <Skeleton lines={2} /> : <RouteList routes={routes.data} />}
        </div>
        <div class="routing-main">
          <Chosen
            tiers={tiers.data ?? []}
            routes={routes.data ?? []}
            account={account}
            onChanged={() => {
              tiers.reload();
              routes.reload();
            }}
          />
        </div>
      </div>
    </Page>
  );
}

function NewButtons() {
  return (
    <div class="row wrap">
      {isOperator.value ? (
        <Button kind="bare" icon="plus" onClick={() => setQuery({ tier: NEW, route: null })}>
          {text.routing.newTier}
        </Button>
      ) : null}
      <Button kind="primary" icon="plus" onClick={() => setQuery({ route: NEW, tier: null })}>
        {text.routing.newRoute}
      </Button>
    </div>
  );
}

/** The editor of the tier or named route in the address. Without one, shows how a request to any model would be routed. */
function Chosen({
  tiers,
  routes,
  account,
  onChanged,
}: {
  tiers: readonly Tier[];
  routes: readonly NamedRoute[];
  account: string | null;
  onChanged: () => void;
}) {
  const { tier: tierId = null, route: routeName = null } = query.value;
  const tier = tiers.find(({ id }) => id === tierId) ?? null;
  const route = routes.find(({ name }) => name === routeName) ?? null;
  if (tier !== null || tierId === NEW)
    return (
      <TierEditor
        key={tierId}
        tier={tier}
        onChanged={(id) => {
          setQuery({ tier: id });
          onChanged();
        }}
      />
    );
  if (route !== null || (routeName === NEW && can("manage")))
    return (
      <RouteEditor
        key={`${account} ${routeName} ${route?.version}`}
        route={route}
        account={account}
        others={routes.map(({ name }) => name).filter((name) => name !== routeName && !name.startsWith("@"))}
        onChanged={(name) => {
          setQuery({ route: name });
          onChanged();
        }}
      />
    );
  return <Explain tried={null} />;
}

function TierList({ tiers }: { tiers: readonly Tier[] }) {
  return (
    <nav class="card tier-nav" aria-label={text.routing.tiers}>
      {tiers.map((tier) => (
        <a
          key={tier.id}
          class="tier-item"
          href={`/console/routing?tier=${encodeURIComponent(tier.id)}`}
          aria-current={tier.id === query.value["tier"] ? "true" : undefined}
        >
          <span class="row">
            <span class="cut strong-name grow" title={tier.id}>
              {tier.id}
            </span>
            <Badge tone={tier.source === "catalog" ? "plain" : "accent"}>
              {printSource(tier) ?? text.routing.sources[tier.source]}
            </Badge>
          </span>
          <span class="cut quiet" title={tier.name}>
            {tier.name} · {text.routing.by[tier.rule.by]}
          </span>
        </a>
      ))}
    </nav>
  );
}

function RouteList({ routes }: { routes: readonly NamedRoute[] }) {
  if (routes.length === 0) return <p class="quiet">{text.routing.noRoutes}</p>;
  return (
    <nav class="card tier-nav" aria-label={text.routing.namedRoutes}>
      {routes.map(({ name, definition, resolves_to, unknown_models, file, line, is_used }) => {
        const targets = [...resolves_to, ...unknown_models].join(", ");
        return (
          <a
            key={name}
            class="tier-item"
            href={`/console/routing?route=${encodeURIComponent(name)}`}
            aria-current={name === query.value["route"] ? "true" : undefined}
          >
            <span class="row">
              <span class="cut strong-name grow" title={name}>
                {name}
              </span>
              <Badge tone={is_used ? "accent" : "plain"}>
                {printSource({ file, line }) ?? text.routing.kinds[definition.kind]}
              </Badge>
            </span>
            <span class="cut quiet" title={targets}>
              {targets}
            </span>
          </a>
        );
      })}
    </nav>
  );
}
