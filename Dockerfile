# The registry as an image. A tag can be moved; where that matters, pin the base by digest as well.
FROM python:3.11.14-slim-bookworm AS build
WORKDIR /source
COPY constraints.txt pyproject.toml README.md LICENSE ./
COPY governance governance
COPY alembic alembic
# The environment gets no pip of its own: nothing in the running image can install anything into it.
RUN python -m venv --without-pip /opt/govctl \
 && python -m venv /opt/build \
 && /opt/build/bin/pip install --no-cache-dir -c constraints.txt hatchling \
 && /opt/build/bin/python -m hatchling build -t wheel -d /dist \
 && /opt/build/bin/pip --python /opt/govctl/bin/python install --no-cache-dir -c constraints.txt /dist/*.whl

FROM python:3.11.14-slim-bookworm
LABEL org.opencontainers.image.title="skill-governance" \
      org.opencontainers.image.description="A registry and gate for the skills of AI agents" \
      org.opencontainers.image.licenses="Apache-2.0"
# graphviz draws; Debian's own security updates are wanted, so its version is not pinned.
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install --yes --no-install-recommends graphviz \
 && rm -rf /var/lib/apt/lists/* \
 && groupadd --gid 10001 govctl \
 && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /var/lib/govctl --shell /usr/sbin/nologin govctl \
 && install --directory --owner=10001 --group=10001 --mode=0700 /var/lib/govctl
COPY --from=build /opt/govctl /opt/govctl
ENV PATH=/opt/govctl/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    GOVCTL_HOME=/var/lib/govctl
# By number, so that an orchestrator can tell that it is not root.
USER 10001:10001
WORKDIR /
VOLUME /var/lib/govctl
EXPOSE 8470
# /livez: whoever restarts what is unhealthy shall not restart it because the database is away. Not urllib,
# which would send this through a proxy that the environment names.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["python", "-c", "import http.client as h; c = h.HTTPConnection('127.0.0.1', 8470, timeout=4); c.request('GET', '/livez'); raise SystemExit(c.getresponse().status != 200)"]
ENTRYPOINT ["govctl"]
CMD ["serve", "--host", "0.0.0.0"]
