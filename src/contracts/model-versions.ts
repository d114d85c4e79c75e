/** Model builds, as jobs report them and requests pin them. */

/** `<model>@<release date>` */
export const MODEL_VERSION = /^[a-z0-9][a-z0-9-]*@\d{4}-\d{2}-\d{2}$/;

/** The build that serves test-mode jobs. It changes with the fixtures of any endpoint. */
export const FIXTURE_VERSION = 'fixture@2026-11-23';
