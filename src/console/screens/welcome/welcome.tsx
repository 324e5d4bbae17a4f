import { Page } from "../../parts/page.tsx";
import { text } from "../../text/text.ts";

/** The first screen of a new gateway. */
export default function Welcome() {
  return (
    <Page title={text.welcome.title} isNarrow>
      <p>{text.welcome.intro}</p>
    </Page>
  );
}
