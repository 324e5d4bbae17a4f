import { text } from "../text/text.ts";

/** A screen with filters, which the palette finds by its title. */
interface View {
  /** The path of the screen, as the registry has it. */
  readonly screen: string;
  readonly query: string;
  readonly title: string;
}

const { views } = text.palette;

/** What operators often look for. */
export const VIEWS: readonly View[] = [
  { screen: "/console/requests", query: "outcome=rejected&last=7d", title: views.rejected },
  { screen: "/console/requests", query: "outcome=failed&last=7d", title: views.failed },
  { screen: "/console/requests", query: "outcome=cached&last=7d", title: views.cached },
  { screen: "/console/usage", query: "by=provider&range=last-month", title: views.invoice },
  { screen: "/console/usage", query: "by=account", title: views.accounts },
  { screen: "/console/usage", query: "by=client", title: views.clients },
  { screen: "/console/responses", query: "", title: views.responses },
  { screen: "/console/responses", query: "background=true&status=in_progress", title: views.running },
  { screen: "/console/keys", query: "unused=30d", title: views.unused },
];
