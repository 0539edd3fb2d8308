"""Django's admin, on a site of ours."""

from django.contrib.admin import apps


class AdminWithSecondFactor(apps.AdminConfig):
    default_site = "config.admin_site.Site"
