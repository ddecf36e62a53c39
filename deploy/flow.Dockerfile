# The image of flow runs in the docker and kubernetes pools: the project's image, without its own entrypoint, for
# Prefect's workers say themselves what the container runs. Build after the project's image:
#   docker build -t examgen . && docker build -t examgen-flow -f deploy/flow.Dockerfile .
FROM examgen:latest
ENTRYPOINT []
CMD ["prefect", "version"]
