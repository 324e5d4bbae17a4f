import type { Tier } from "../../api/schema.ts";
import { text } from "../../text/text.ts";

/** The served models of each case of a stored tier. */
export function ResolvesTo({ tier: { resolves_to, unknown_models } }: { tier: Tier }) {
  return (
    <section class="card">
      <div class="card-head">
        <h2>{text.routing.resolves}</h2>
      </div>
      <div class="card-body stack">
        {resolves_to.length === 0 ? <p class="quiet">{text.routing.resolvesNone}</p> : null}
        <dl class="facts">
          {resolves_to.map(({ when, models }) => [
            <dt key={when}>{when}</dt>,
            <dd key={`${when} models`}>
              {models.map((id, i) => [
                i > 0 ? ", " : "",
                <a key={id} href={`/console/models/${id}`}>
                  {id}
                </a>,
              ])}
            </dd>,
          ])}
        </dl>
        {unknown_models.length === 0 ? null : (
          <p class="warn breaks">
            {text.routing.unknown} {unknown_models.join(", ")}
          </p>
        )}
      </div>
    </section>
  );
}
