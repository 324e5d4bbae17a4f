import type { GenerationDetails } from "../../api/generation.ts";
import { Section } from "../../parts/section.tsx";
import { text } from "../../text/text.ts";

const words = text.request;

/** What the gateway changed between the client and the provider, as far as the record says. */
export function Changes({ generation }: { generation: GenerationDetails }) {
  const { api, attempts, requested_model, model, finish_reason, native_finish_reason, estimated } =
    generation;
  const formats = [...new Set(attempts.map(({ upstream_format }) => upstream_format).filter(Boolean))];
  const own = words.apiFormats[api as keyof typeof words.apiFormats];
  const others = formats.filter((format) => format !== own);
  const upstream = attempts.at(-1)?.upstream_model ?? null;
  const isTranslated = own !== undefined && others.length > 0;
  return (
    <Section
      id="changes"
      title={words.changes}
      summary={isTranslated ? words.translated : words.sameFormat}
      isClosed={!isTranslated}
    >
      <dl class="facts">
        <dt>{words.format}</dt>
        <dd>{isTranslated ? `${own} → ${others.join(", ")}` : (own ?? api)}</dd>
        {upstream === null ? null : (
          <>
            <dt>{words.modelName}</dt>
            <dd>
              {requested_model}
              {model !== null && model !== requested_model ? ` → ${model}` : ""} → {upstream}
            </dd>
          </>
        )}
        {finish_reason === null ? null : (
          <>
            <dt>{words.finishReason}</dt>
            <dd>
              {finish_reason}
              {native_finish_reason === null || native_finish_reason === finish_reason
                ? ""
                : ` (${words.native(native_finish_reason)})`}
            </dd>
          </>
        )}
        {estimated ? (
          <>
            <dt>{words.usage}</dt>
            <dd>{words.estimated}</dd>
          </>
        ) : null}
      </dl>
    </Section>
  );
}
