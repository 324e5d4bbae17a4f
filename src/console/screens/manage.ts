/** The code of the screens for keys, money and people. */
export { default as Budgets } from "./budgets/budgets.tsx";
export { default as Credits } from "./credits/credits.tsx";
export { default as Home } from "./home/home.tsx";
export { default as Keys } from "./keys/keys.tsx";
export { default as People } from "./people/people.tsx";
export { default as ProviderKeys } from "./provider-keys/provider-keys.tsx";
export { default as Provider } from "./providers/provider.tsx";
export { default as Providers } from "./providers/providers.tsx";
export { default as Team } from "./teams/team-page.tsx";
export { default as Usage } from "./usage/usage.tsx";
export { default as Welcome } from "./welcome/welcome.tsx";
