import { useState } from "preact/hooks";
import { emptyConversation } from "../../conversation/conversation.ts";
import { CODE_CLIENTS, type CodeClient, printCode } from "../../conversation/print-code.ts";
import { Segments } from "../../parts/controls/segments.tsx";
import { Crumbs } from "../../parts/layout/crumbs.tsx";
import { Page } from "../../parts/layout/page.tsx";
import { ErrorBox, Skeleton } from "../../parts/layout/states.tsx";
import { Badge } from "../../parts/values/badge.tsx";
import { Code, Copy } from "../../parts/values/values.tsx";
import { loadModel, useCatalog } from "../../state/catalog/load-models.ts";
import type { ModelDetails, Tier } from "../../state/catalog/model-types.ts";
import { useLoad } from "../../state/load.ts";
import type { ScreenProps } from "../../state/screen.ts";
import { can, isOperator, session } from "../../state/session.ts";
import { text } from "../../text/text.ts";
import { printCurl } from "../request/print-curl.ts";
import { EndpointTakes } from "./endpoint-takes.tsx";
import { EndpointsTable } from "./endpoints-table.tsx";
import { comparePath } from "./model-filters.ts";
import { printModalities, printTokens, soleApiOf } from "./model-format.ts";
import { ModelSettings } from "./model-settings.tsx";
import { Price, ServedText } from "./model-values.tsx";
import { MODELS_LIST } from "./models-list.ts";
import { PricesTable } from "./prices-table.tsx";

const words = text.models;

/** `/console/models/:author/:model`: the facts about one model, and the measurements of this gateway. */
export default function Model({ params }: ScreenProps) {
  const id = `${params["author"]}/${params["model"]}`;
  const { data, error, reload } = useLoad(`model ${id}`, (signal) => loadModel(id, signal));
  const model = data?.id.toLowerCase() === id.toLowerCase() ? data : null;
  return (
    <Page
      title={model?.name ?? id}
      heading={model === null ? <Crumbs list={MODELS_LIST} title={id} /> : <Heading model={model} />}
      actions={<Actions id={id} model={model} />}
    >
      {error !== null ? (
        <ErrorBox error={error} onRetry={reload} />
      ) : model === null ? (
        <Skeleton lines={12} />
      ) : (
        <ModelPage model={model} onChanged={reload} />
      )}
    </Page>
  );
}

function Heading({ model }: { model: ModelDetails }) {
  return (
    <Crumbs list={MODELS_LIST} title={model.name}>
      <span class="id" title={model.id}>
        <span class="cut">{model.id}</span>
        <Copy value={model.id} label={text.values.copyId} />
      </span>
      <ServedText model={model} />
      {model.is_free ? <Badge tone="good">{words.free}</Badge> : null}
    </Crumbs>
  );
}

function Actions({ id, model }: { id: string; model: ModelDetails | null }) {
  const talks = model === null || soleApiOf(model) === null;
  return (
    <>
      <a class="button" href={comparePath([id])}>
        {words.compare}
      </a>
      {talks && can("call") ? (
        <a class="button primary" href={`/console/playground?models=${encodeURIComponent(id)}`}>
          {words.tryIt}
        </a>
      ) : null}
    </>
  );
}

function ModelPage({ model, onChanged }: { model: ModelDetails; onChanged: () => void }) {
  const reason = model.not_served_because;
  return (
    <div class="column sections">
      {reason === null ? null : <p class="note">{words.reasonsAbout[reason]}</p>}
      {model.description === null ? null : <p class="quiet prose">{model.description}</p>}
      <Figures model={model} />
      <section>
        <h2>{words.endpoints}</h2>
        <p class="quiet section-about">{words.endpointsAbout}</p>
        <EndpointsTable endpoints={model.endpoints} isFree={model.is_free} />
      </section>
      <section>
        <h2>{text.takes.title}</h2>
        <p class="quiet section-about">{text.takes.about}</p>
        <EndpointTakes endpoints={model.endpoints} />
      </section>
      <section>
        <h2>{words.prices}</h2>
        <p class="quiet section-about">{words.pricesAbout}</p>
        <PricesTable endpoints={model.endpoints} />
      </section>
      {isOperator.value ? <ModelSettings model={model} onChanged={onChanged} /> : null}
      <div class="two-columns">
        <section>
          <h2>{words.facts.abilities}</h2>
          <Facts model={model} />
        </section>
        <section>
          <h2>{words.tiers}</h2>
          <TierList model={model} />
        </section>
      </div>
      <section>
        <h2>{words.callIt}</h2>
        <p class="quiet section-about">
          {soleApiOf(model) === null ? words.callItAbout : words.callSoleAbout}
        </p>
        <Snippets model={model} />
      </section>
    </div>
  );
}

function Figures({ model }: { model: ModelDetails }) {
  const { pricing, is_free } = model;
  const { facts } = words;
  return (
    <div class="figures">
      <Figure name={facts.context}>{printTokens(model.context_length)}</Figure>
      <Figure name={facts.maxOutput}>{printTokens(model.max_output_tokens)}</Figure>
      <Figure name={words.columns.input}>
        <Price value={pricing?.prompt} isFree={is_free} />
      </Figure>
      <Figure name={words.columns.output}>
        <Price value={pricing?.completion} isFree={is_free} />
      </Figure>
      <Figure name={words.columns.cache}>
        <Price value={pricing?.input_cache_read} isFree={is_free} />
      </Figure>
    </div>
  );
}

function Figure({ name, children }: { name: string; children: preact.ComponentChildren }) {
  return (
    <div>
      <div class="figure-name">{name}</div>
      <div class="figure-value">{children}</div>
    </div>
  );
}

function Facts({ model }: { model: ModelDetails }) {
  const { facts } = words;
  const rows: readonly (readonly [string, string])[] = [
    [facts.author, model.author],
    [facts.released, model.released ?? words.unknown],
    [facts.accepts, printModalities(model.input_modalities)],
    [facts.returns, printModalities(model.output_modalities)],
    [facts.tokenizer, model.tokenizer ?? words.unknown],
    ...(model.expires === null ? [] : [[facts.expires, model.expires] as const]),
    [facts.parameters, model.supported_parameters.join(", ") || "–"],
  ];
  return (
    <dl class="facts">
      {rows.map(([name, value]) => [<dt key={name}>{name}</dt>, <dd key={`${name}:`}>{value}</dd>])}
    </dl>
  );
}

function TierList({ model }: { model: ModelDetails }) {
  const { data } = useCatalog();
  const tiers = (data?.tiers ?? []).filter(({ id }) => model.tiers.includes(id));
  if (model.tiers.length === 0) return <p class="quiet">{words.noTiers}</p>;
  return (
    <ul class="tier-list">
      {tiers.map((tier) => (
        <li key={tier.id}>
          <span class="strong">{tier.name}</span> <span class="faint mono">{tier.id}</span>
          {listCases(tier, model.id).map((line) => (
            <div key={line} class="quiet">
              {line}
            </div>
          ))}
        </li>
      ))}
    </ul>
  );
}

/** Lists the cases of a tier that may choose a model: `x-gateway-mode: plan: choice 2 of 9`. */
function listCases(tier: Tier, id: string): string[] {
  return tier.resolves_to.flatMap(({ when, models }) => {
    const index = models.indexOf(id);
    return index === -1 ? [] : [`${when}: ${words.tierPosition(index + 1, models.length)}`];
  });
}

function Snippets({ model }: { model: ModelDetails }) {
  const [client, setClient] = useState<CodeClient>("curl");
  const baseUrl = session.value?.base_url ?? window.location.origin;
  const api = soleApiOf(model);
  if (api !== null) {
    const sent = { api, requested_model: model.id, streamed: false };
    return <Code value={printCurl(sent, baseUrl)} label={words.callIt} />;
  }
  const conversation = {
    ...emptyConversation(),
    turns: [{ role: "user" as const, text: "Hello!", images: [] }],
  };
  const code = printCode(client, { api: "chat", model: model.id, conversation, baseUrl });
  return (
    <div class="column">
      <Segments label={words.callIt} value={client} choices={CODE_CLIENTS} onChange={setClient} />
      <Code value={code} label={words.callIt} />
    </div>
  );
}
