/** Texts of the screen "Home", which people without the right to read the account see first. */
export const homeText = {
  title: "Home",
  left: "What is left",
  today: "Daily limit (UTC)",
  leftOf: (left: string, limit: string) => `${left} of ${limit} left`,
  reached: (limit: string) => `${limit} used up`,
  spentToday: (amount: string) => `You have spent ${amount} today (UTC).`,
  unlimited: "No daily limit and no budget limits your requests.",
  resets: "resets",
  budgetOf: {
    account: "Budget of the organization",
    member: "Your budget",
    team: (name: string) => `Budget of the team ${name}`,
  },
  onlyWarns: "only warns",
  keys: "Your keys",
  noKeys: "You have no keys yet",
  noKeysAbout: "A key lets a program call models in your name.",
  allKeys: "All keys",
  connect: "How to connect",
  connectAbout: "Base address of the API:",
  data: "What is kept of your requests",
  logged: (time: string) =>
    `Prompts and answers are stored encrypted for ${time}. Owners, admins and auditors can read them.`,
  notLogged: "Prompts and answers are not stored by the gateway.",
  loggedAbout:
    "This applies to new keys. A key or its team can have another setting, which the page of the key shows.",
  zeroRetention:
    "Zero data retention: only providers that keep nothing are called, and nothing is stored here.",
  noZeroRetention: "Providers may keep requests as their terms say.",
  teams: "Your teams",
};
