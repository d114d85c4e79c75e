# One image for every process, and one for the workers of the queue inference-heavy; docker-compose.yml says which process a
# container runs.
#
#   docker build .                            decodes no videos, and contains nothing under the GPL
#   docker build --target inference-heavy .   decodes videos: read docs/adr/0032-the-video-package-is-installed-apart.md
#                                             before you hand this one on

FROM node:24-slim AS modules
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY scripts/build-console.mjs scripts/
RUN npm ci --omit=dev

# The development dependencies, which build the console and the viewer, stay in this stage.
FROM modules AS console
COPY scripts/node-for-npm-scripts scripts/node-for-npm-scripts
RUN npm ci
COPY console console
COPY viewer viewer
COPY src src
RUN node scripts/build-console.mjs

FROM modules AS modules-with-video
RUN npm run video:install

FROM node:24-slim AS service
ENV NODE_ENV=production
WORKDIR /app
# What every process writes besides its standard output: files into this folder, which the containers share.
RUN install --directory --owner=node --group=node /storage
COPY --from=modules /app/node_modules node_modules
COPY --from=console /app/console/dist console/dist
COPY --from=console /app/viewer/dist viewer/dist
COPY package.json CHANGELOG.md ./
COPY migrations migrations
COPY models models
COPY docs docs
COPY clients/python/README.md clients/python/
COPY scripts/register-webhook.ts scripts/seed-development.ts scripts/
COPY src src
USER node
# No ENTRYPOINT: `docker run <image> node src/workers/inference.ts` is another process.
CMD ["node", "src/api/main.ts"]

FROM service AS inference-heavy
COPY --from=modules-with-video /app/node_modules/@napi-rs node_modules/@napi-rs
CMD ["node", "src/workers/inference.ts"]

# The last stage is what `docker build .` makes.
FROM service
