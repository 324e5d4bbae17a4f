import type { GenerationDetails } from "../../api/schema.ts";
import { Section } from "../../parts/layout/section.tsx";
import { text } from "../../text/text.ts";

const words = text.request;

/** What happened to the request, in the sentences of the API. */
export function Story({ generation: { explanation } }: { generation: GenerationDetails }) {
  return (
    <Section id="story" title={words.story}>
      <ol class="story">
        {explanation.map((sentence, at) => (
          <li key={`${at} ${sentence}`}>
            <Sentence text={sentence} />
          </li>
        ))}
      </ol>
    </Section>
  );
}

/** A sentence, with a link for the id of each generation in it. */
function Sentence({ text: sentence }: { text: string }) {
  return (
    <>
      {sentence.split(/(\bgen_\w+)/).map((part, at) =>
        at % 2 === 0 ? (
          part
        ) : (
          <a key={part} href={`/console/requests/${part}`}>
            <code>{part}</code>
          </a>
        ),
      )}
    </>
  );
}
