/** Version of the public interface: `Service-Version` of responses, `api_version` of events. */
export const API_VERSION = '2026-10-04';
