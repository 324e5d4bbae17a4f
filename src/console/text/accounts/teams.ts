/** Texts of the teams of an organization. */
export const teamsText = {
  title: "Teams",
  list: "Teams",
  search: "Search teams",
  make: "New team",
  none: "No teams yet",
  noneAbout:
    "A team is a group inside the organization. Its keys have a policy, limits and budgets of their own, and the organization pays.",
  noMatch: "No team matches",
  noMatchAbout: "Search for another part of the name.",
  columns: {
    name: "Name",
    members: "Members",
    policy: "Policy",
    spent: "Spent of its budgets",
    created: "Created",
  },
  moreBudgets: (count: number) => `and ${count} more`,
  noBudget: "no budget",
  name: "Name",
  nameHint: "Unique among the teams of the organization.",
  create: "Create",
  created: (name: string) => `The team ${name} was created.`,
  tabs: {
    overview: "Overview",
    members: "Members",
    keys: "Keys",
    policy: "Policy",
    settings: "Settings",
  },
  tabsLabel: "Parts of the team",
  lead: "Lead",
  member: "Member",
  youLead: "You lead this team",
  members: "Members",
  budgetsAbout: "No budget limits the requests of this team as a whole.",
  policyAbout:
    "What keys of the team may use. It can only add restrictions to the policies of the operator and of the organization.",
  facts: "Limits and defaults",
  settings: "Name, limits and defaults",
  settingsAbout: "They apply to all keys of the team, present and future.",
  rateHint: "Of all keys of the team together. Empty: no limit.",
  promptLogHint:
    "Bodies of requests are stored encrypted for this time, for keys without a value of their own. Empty: as the organization says. 0: never.",
  cacheHint:
    "Equal requests get the same answer for this time, for keys without a value of their own. Empty: as the organization says. 0: never.",
  byDefault: "As the organization says",
  tagsHint: "All requests of the team get them, in addition to their own.",
  addMember: "Add a member",
  add: "Add",
  added: (name: string) => `${name} is now a member of the team.`,
  candidate: "Member of the organization",
  noCandidates: "All members of the organization are in the team.",
  isLead: "Leads the team",
  isLeadAbout:
    "A lead sees the requests and usage of the team, manages its keys, and adds and removes members.",
  makeLead: "Make lead",
  unmakeLead: "Remove as lead",
  leadSaved: (name: string, isLead: boolean) =>
    isLead ? `${name} now leads the team.` : `${name} no longer leads the team.`,
  remove: "Remove",
  removeTitle: (name: string) => `Remove ${name} from the team`,
  removeKeys: (count: number, names: string) =>
    count === 1
      ? `The key ${names} of the team ends at once: all further requests with it are rejected.`
      : `${count} keys of the team end at once: all further requests with ${names} are rejected.`,
  removeNoKeys: "No key ends: they have none of the team.",
  removeAbout:
    "The person stays a member of the organization, and their other keys keep working. A person who is added again makes new keys.",
  removed: (name: string, keys: number) =>
    keys === 0
      ? `${name} is no longer a member of the team.`
      : `${name} is no longer a member of the team. Keys that ended: ${keys}.`,
  memberColumns: { user: "User", role: "In the team", source: "Source", since: "Since" },
  noMembers: "No members",
  noMembersAbout: "Add members of the organization, who then can have keys of the team.",
  delete: "Delete team",
  deleteTitle: (name: string) => `Delete the team ${name}`,
  deleteAbout:
    "The team loses its members, and all requests with its keys are rejected. Its usage and requests remain. This cannot be undone.",
  deleted: (name: string) => `The team ${name} was deleted.`,
};
