/** Starts the console in the page that the gateway serves at /console. */
import { render } from "preact";
import { baseLinks } from "./api/base.ts";
import { App } from "./app.tsx";
import { followFirstSteps } from "./state/first-steps.ts";
import { followLinks } from "./state/location.ts";
import { followCodes, startSession } from "./state/session.ts";

baseLinks();
followLinks();
followCodes();
followFirstSteps();
void startSession();
const root = document.getElementById("app");
if (root !== null) render(<App />, root);
