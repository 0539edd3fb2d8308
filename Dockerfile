# One image for every process; docker-compose.yml says which command each runs.
FROM python:3.13-slim AS build
COPY requirements/runtime.txt /tmp/
RUN python -m venv /venv && /venv/bin/pip install --no-cache-dir --require-hashes -r /tmp/runtime.txt

FROM python:3.13-slim
RUN useradd --system --no-create-home kado
COPY --from=build /venv /venv
COPY manage.py /app/
COPY common /app/common
COPY config /app/config
COPY accounts /app/accounts
COPY games /app/games
COPY matchmaking /app/matchmaking
COPY bots /app/bots
COPY web /app/web
WORKDIR /app
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1 KADO_KERNELS=/var/lib/kado/kernels
# The engine is compiled for this processor; on another one a worker compiles it again, into the same folder.
RUN python -m compileall -q . && python manage.py kernels && chown -R kado /var/lib/kado
USER kado
ENTRYPOINT ["python", "manage.py"]
CMD ["web", "--host", "0.0.0.0", "--port", "8000"]
